import { EventStreamCodec, type Message } from "@smithy/eventstream-codec";
import type { HttpRequest } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import type { Script } from "../model/script.ts";
import { type Simulator, type SimulatorOptions, createSimulator } from "../simulator.ts";

/** A response. */
type BedrockTestResponse = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
};

/** One frame of a stream: its headers by name, and its JSON. */
type BedrockTestFrame = { readonly headers: Json; readonly body: Json };

/** A test client of a simulated Bedrock. */
export type BedrockTestClient = {
  readonly simulator: Simulator;
  readonly ask: (model: string, body: Json, operation?: string) => Promise<BedrockTestResponse>;
  readonly stream: (model: string, body: Json) => Promise<readonly BedrockTestFrame[]>;
  readonly send: (request: Partial<HttpRequest> & Pick<HttpRequest, "url">) => Promise<BedrockTestResponse>;
};

/** Creates a test client of a simulated server with a fixed clock. */
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

/** The blocks of a response. */
export const contentOf = ({ body }: BedrockTestResponse): readonly Json[] =>
  asArray(asObject(asObject(body["output"])["message"])["content"]).map(asObject);

/** The text of a response. */
export const wordsIn = (reply: BedrockTestResponse): string =>
  contentOf(reply)
    .map(({ text }) => asText(text))
    .join("");

/** The usage of a response. */
export const usageIn = ({ body }: BedrockTestResponse): Json => asObject(body["usage"]);

/** A user message. */
export const user = (...blocks: readonly (string | Json)[]): Json => ({
  role: "user",
  content: blocks.map((block) => (typeof block === "string" ? { text: block } : block)),
});

/** A model content. */
export const assistant = (...content: readonly Json[]): Json => ({ role: "assistant", content });

/** The result of a call. */
export const result = (call: Json | undefined, ...content: readonly Json[]): Json => ({
  toolResult: { toolUseId: asObject(call?.["toolUse"])["toolUseId"], content },
});

/** The header of an image of 100 by 75 pixels. */
export const image: Json = {
  image: {
    format: "png",
    source: {
      bytes: Buffer.from("89504e470d0a1a0a0000000d49484452000000640000004b0802000000", "hex").toString("base64"),
    },
  },
};

/** A minimal document of two pages. */
export const pdf: Json = {
  document: {
    format: "pdf",
    name: "report",
    source: { bytes: Buffer.from("%PDF-1.4 /Type /Page /Type /Page").toString("base64") },
  },
};

/** A cache point. */
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

/** A script that replies to "look" with two calls. */
export const loop: Script = {
  rules: [
    {
      prompt: "look",
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

/** A Claude model that binds reasoning to the prompt before it. */
export const fable = "us.anthropic.claude-fable-5-1-v1:0";
/** A Claude model with a thinking budget. */
export const sonnet = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
/** A model with prompt caching and unsigned reasoning. */
export const nova = "us.amazon.nova-pro-v1:0";
/** A model that accepts nothing beside results. */
export const llama = "us.meta.llama4-maverick-17b-instruct-v1:0";
/** Adaptive thinking. */
export const thinking: Json = { additionalModelRequestFields: { thinking: { type: "adaptive" } } };
/** Thinking with a budget. */
export const budget: Json = { additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: 2000 } } };
/** The request that `loop` replies to. */
export const question: Json = { messages: [user("Please look.")], ...tools("snap", "stat") };

/** Sends the request and extends it by the response and the results of its calls. */
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

/** Replaces one message of a request. */
export const withMessage = (body: Json, index: number, change: (message: Json) => Json): Json => ({
  ...body,
  messages: messagesOf(body).map((message, at) => (at === index ? change(message) : message)),
});

/** Replaces the first block of a message. */
export const withFirst =
  (block: Json) =>
  (message: Json): Json => ({ ...message, content: [block, ...asArray(message["content"]).slice(1)] });

/** 200, or the error message. */
export const verdict = async ({ ask }: BedrockTestClient, model: string, body: Json): Promise<unknown> => {
  const { status, headers, body: said } = await ask(model, body);
  if (status === 200) return 200;
  return [status, headers["x-amzn-errortype"]?.split(":")[0], said["message"]];
};
