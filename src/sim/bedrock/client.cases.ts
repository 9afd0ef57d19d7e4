import { EventStreamCodec, type Message } from "@smithy/eventstream-codec";
import type { HttpRequest } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import type { Script } from "../model/script.ts";
import { type Simulator, type SimulatorOptions, createSimulator } from "../simulator.ts";

/** What came back. */
type BedrockTestResponse = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
};

/** One frame of a stream: its headers by name, and its JSON. */
type BedrockTestFrame = { readonly headers: Json; readonly body: Json };

/** A simulated Bedrock, and the ways it is asked. */
export type BedrockTestClient = {
  readonly simulator: Simulator;
  readonly ask: (model: string, body: Json, operation?: string) => Promise<BedrockTestResponse>;
  readonly stream: (model: string, body: Json) => Promise<readonly BedrockTestFrame[]>;
  readonly send: (request: Partial<HttpRequest> & Pick<HttpRequest, "url">) => Promise<BedrockTestResponse>;
};

/** A server whose clock stands still. */
export const createClient = (options: Omit<SimulatorOptions, "provider"> = {}): BedrockTestClient => {
  const simulator = createSimulator({ provider: "bedrock", now: () => Date.UTC(2026, 10, 15), ...options });
  const bytesOf = async (
    request: HttpRequest,
  ): Promise<{ readonly reply: Omit<BedrockTestResponse, "body">; readonly bytes: Buffer }> => {
    const { status, headers, body } = await simulator.handle(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return { reply: { status, headers }, bytes: Buffer.concat(chunks) };
  };
  const request = (model: string, body: Json, operation: string): HttpRequest => ({
    method: "POST",
    url: `https://localhost/model/${encodeURIComponent(model)}/${operation}`,
    headers: { authorization: "Bearer token" },
    body: JSON.stringify(body),
  });
  const send = async (sent: HttpRequest): Promise<BedrockTestResponse> => {
    const { reply, bytes } = await bytesOf(sent);
    return { ...reply, body: asObject(JSON.parse(bytes.toString())) };
  };
  return {
    simulator,
    ask: (model, body, operation = "converse") => send(request(model, body, operation)),
    stream: async (model, body) => framesIn((await bytesOf(request(model, body, "converse-stream"))).bytes),
    send: (sent) => send({ method: "GET", headers: { authorization: "Bearer token" }, ...sent }),
  };
};

const framesIn = (bytes: Buffer): readonly BedrockTestFrame[] => {
  const codec = new EventStreamCodec(
    (data) => (typeof data === "string" ? data : new TextDecoder().decode(data)),
    (text) => new TextEncoder().encode(text),
  );
  const frames: BedrockTestFrame[] = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32BE(at))
    frames.push(frameOf(codec.decode(bytes.subarray(at, at + bytes.readUInt32BE(at)))));
  return frames;
};

const frameOf = ({ headers, body }: Message): BedrockTestFrame => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, { value }]) => [name, value])),
  body: asObject(JSON.parse(Buffer.from(body).toString())),
});

/** The blocks of an answer. */
export const contentOf = ({ body }: BedrockTestResponse): readonly Json[] =>
  asArray(asObject(asObject(body["output"])["message"])["content"]).map(asObject);

/** What the model said in an answer. */
export const wordsIn = (reply: BedrockTestResponse): string =>
  contentOf(reply)
    .map(({ text }) => asText(text))
    .join("");

/** What an answer has cost. */
export const usageIn = ({ body }: BedrockTestResponse): Json => asObject(body["usage"]);

/** What the user says. */
export const user = (...blocks: readonly (string | Json)[]): Json => ({
  role: "user",
  content: blocks.map((block) => (typeof block === "string" ? { text: block } : block)),
});

/** What a model said. */
export const assistant = (...content: readonly Json[]): Json => ({ role: "assistant", content });

/** The result of a call. */
export const result = (call: Json | undefined, ...content: readonly Json[]): Json => ({
  toolResult: { toolUseId: asObject(call?.["toolUse"])["toolUseId"], content },
});

/** A picture of one hundred by seventy-five pixels, as far as its header tells. */
export const image: Json = {
  image: {
    format: "png",
    source: {
      bytes: Buffer.from("89504e470d0a1a0a0000000d49484452000000640000004b0802000000", "hex").toString("base64"),
    },
  },
};

/** A document of two pages, as far as anyone looks. */
export const pdf: Json = {
  document: {
    format: "pdf",
    name: "report",
    source: { bytes: Buffer.from("%PDF-1.4 /Type /Page /Type /Page").toString("base64") },
  },
};

/** A cache mark. */
export const cachePoint: Json = { cachePoint: { type: "default" } };

/** Declarations of the named tools. */
export const tools = (...names: readonly string[]): Json => ({
  toolConfig: {
    tools: names.map((name) => ({
      toolSpec: {
        name,
        description: `The ${name} tool`,
        inputSchema: { json: { type: "object", properties: { path: { type: "string" } } } },
      },
    })),
  },
});

/** A question about two files, answered by two calls. */
export const loop: Script = {
  rules: [
    {
      asked: "look",
      replies: [
        {
          think: "Two files to read.",
          say: "I will look.",
          call: [
            { tool: "snap", input: { path: "a.png" } },
            { tool: "stat", input: {} },
          ],
        },
      ],
    },
  ],
};

/** A Claude that binds its thoughts to all that stood before them. */
export const fable = "us.anthropic.claude-fable-5-1-v1:0";
/** A Claude that thinks by a budget. */
export const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
/** A model that caches and does not sign. */
export const nova = "us.amazon.nova-pro-v1:0";
/** A model that wants results alone. */
export const llama = "us.meta.llama4-maverick-17b-instruct-v1:0";
/** Thinking as the model sees fit. */
export const thinking: Json = { additionalModelRequestFields: { thinking: { type: "adaptive" } } };
/** Thinking by a budget. */
export const budget: Json = { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 } } };
/** The question that `loop` answers. */
export const question: Json = { messages: [user("Please look.")], ...tools("snap", "stat") };

/** The question again, with what was answered and the results of its calls. */
export const followUp = async (
  { ask }: BedrockTestClient,
  model: string,
  body: Json = { ...question, ...thinking },
): Promise<Json> => {
  const content = contentOf(await ask(model, body));
  const calls = content.filter((block) => "toolUse" in block);
  const messages = [
    ...asArray(body["messages"]),
    assistant(...content),
    user(result(calls[0], { text: "a picture" }, image), result(calls[1], { text: "ENOENT" })),
  ];
  return { ...body, messages };
};

/** The messages of a request. */
export const messagesOf = (body: Json): readonly Json[] => asArray(body["messages"]).map(asObject);

/** The same request with one of its messages replaced. */
export const withMessage = (body: Json, index: number, change: (message: Json) => Json): Json => ({
  ...body,
  messages: messagesOf(body).map((message, at) => (at === index ? change(message) : message)),
});

/** The same message with its first block replaced. */
export const withFirst =
  (block: Json) =>
  (message: Json): Json => ({ ...message, content: [block, ...asArray(message["content"]).slice(1)] });

/** 200, or what an answer was refused with. */
export const verdict = async ({ ask }: BedrockTestClient, model: string, body: Json): Promise<unknown> => {
  const { status, headers, body: said } = await ask(model, body);
  if (status === 200) return 200;
  return [status, headers["x-amzn-errortype"]?.split(":")[0], said["message"]];
};
