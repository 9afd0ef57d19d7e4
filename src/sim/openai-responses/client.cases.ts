import { type HttpRequest, readBodyText } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import type { Script } from "../model/script.ts";
import { type Simulator, type SimulatorOptions, createSimulator } from "../simulator.ts";

/** A response. */
export type ResponsesTestResponse = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
};

/** A test client of a simulated server. */
export type ResponsesTestClient = {
  readonly simulator: Simulator;
  readonly ask: (body: Json, more?: Partial<HttpRequest>) => Promise<ResponsesTestResponse>;
  /** The events of a stream, with normalized ids and seals. */
  readonly stream: (body: Json) => Promise<readonly Json[]>;
  readonly raw: (body: Json) => Promise<string>;
};

/** Creates a test client of a simulated server with a fixed clock. */
export const createClient = (
  provider: string,
  options: Omit<SimulatorOptions, "provider"> = {},
): ResponsesTestClient => {
  const simulator = createSimulator({ provider, now: () => Date.UTC(2026, 10, 15), ...options });
  const request = (body: Json): HttpRequest => ({
    method: "POST",
    url: `https://localhost${provider === "azure" ? "/openai/v1" : "/v1"}/responses`,
    headers: provider === "azure" ? { "api-key": "key-one" } : { authorization: "Bearer key-one" },
    body: JSON.stringify(body),
  });
  const raw = async (body: Json): Promise<string> =>
    readBodyText(await simulator.handle(request({ ...body, stream: true })));
  return {
    simulator,
    raw,
    ask: async (body, more = {}) => {
      const response = await simulator.handle({ ...request(body), ...more });
      return {
        status: response.status,
        headers: response.headers,
        body: asObject(JSON.parse(await readBodyText(response))),
      };
    },
    stream: async (body) => eventsIn(normalizeIds(await raw(body))),
  };
};

/** The JSON of every event. */
const eventsIn = (text: string): readonly Json[] =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => asObject(JSON.parse(event.slice(event.indexOf("data: ") + 6))));

/** Replaces ids and seals by their order of occurrence. */
export const normalizeIds = (text: string): string => {
  const names = new Map<string, string>();
  const nameOf = (id: string, kind: string): string => {
    const known = names.get(id);
    if (known !== undefined) return known;
    const count = [...names.values()].filter((name) => name.startsWith(`${kind}-`)).length;
    const name = `${kind}-${count + 1}`;
    names.set(id, name);
    return name;
  };
  return text
    .replaceAll(/\b(resp|rs|msg|fc|ws|ig)_[0-9a-f]{50}\b/g, (id, kind: string) => nameOf(id, kind))
    .replaceAll(/\bcall_[A-Za-z0-9]{24}\b/g, (id) => nameOf(id, "call"))
    .replaceAll(/gAAAAAB[\w-]+/g, (seal) => nameOf(seal, "seal"));
};

/** The items of a response. */
export const outputOf = ({ body }: ResponsesTestResponse): readonly Json[] => asArray(body["output"]).map(asObject);

/** The text of a response. */
export const wordsIn = (reply: ResponsesTestResponse): string =>
  outputOf(reply)
    .flatMap((item) => asArray(item["content"]))
    .map((part) => asText(asObject(part)["text"]))
    .join("");

/** The header of an image of 100 by 75 pixels. */
export const png: string = `data:image/png;base64,${Buffer.from(
  "89504e470d0a1a0a0000000d49484452000000640000004b0802000000",
  "hex",
).toString("base64")}`;

/** A minimal document of two pages. */
export const pdf: string = `data:application/pdf;base64,${Buffer.from("%PDF-1.4 /Type /Page /Type /Page").toString("base64")}`;

/** Declarations of the named functions. */
export const tools = (...names: readonly string[]): readonly Json[] =>
  names.map((name) => ({
    type: "function",
    name,
    description: `The ${name} function`,
    parameters: { type: "object", properties: { path: { type: "string" } } },
    strict: false,
  }));

/** A user message. */
export const user = (content: unknown): Json => ({ role: "user", content });

/** The result of a call. */
export const output = (call: Json | undefined, given: unknown): Json => ({
  type: "function_call_output",
  call_id: call?.["call_id"],
  output: given,
});

/** A script that replies to "look" with two calls. */
export const loop: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        {
          think: "**Two files**\n\nBoth are needed.\n\n**Order**\n\nAny.",
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

/** The settings of a stateless client. */
export const stateless: Json = { store: false, include: ["reasoning.encrypted_content"] };
/** The request that `loop` replies to. */
export const question: Json = {
  model: "gpt-5.6",
  input: [user("Please look.")],
  tools: tools("snap", "stat"),
  reasoning: { summary: "auto" },
  ...stateless,
};

/** Sends the request and extends it by the response and the results of its calls. */
export const followUp = async ({ ask }: ResponsesTestClient, body: Json = question): Promise<Json> => {
  const items = outputOf(await ask(body));
  const calls = items.filter(({ type }) => type === "function_call");
  return {
    ...body,
    input: [
      ...asArray(body["input"]),
      ...items,
      output(calls[0], [
        { type: "input_text", text: "a picture" },
        { type: "input_image", image_url: png, detail: "auto" },
        { type: "input_file", filename: "b.pdf", file_data: pdf },
      ]),
      output(calls[1], "ENOENT"),
    ],
  };
};

/** The items of a request. */
export const itemsOf = (body: Json): readonly Json[] => asArray(body["input"]).map(asObject);

/** Changes the reasoning items of a request. */
export const withThought = (body: Json, change: Json): Json => ({
  ...body,
  input: itemsOf(body).map((item) => (item["type"] === "reasoning" ? { ...item, ...change } : item)),
});

/** Replaces the outputs of a request by plain text. */
export const wordsOnly = (body: Json): Json => ({
  ...body,
  input: itemsOf(body).map((item) => (Array.isArray(item["output"]) ? { ...item, output: "a picture" } : item)),
});
