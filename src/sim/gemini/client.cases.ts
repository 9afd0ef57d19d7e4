import { type HttpRequest, readBodyText } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import { type Simulator, type SimulatorOptions, createSimulator } from "../simulator.ts";

/** A response: status, content type and JSON. */
export type GeminiTestResponse = { readonly status: number; readonly type: string; readonly body: Json };

/** A test client of one simulated endpoint. */
export type GeminiTestClient = {
  readonly simulator: Simulator;
  readonly ask: (model: string, body: Json, method?: string) => Promise<GeminiTestResponse>;
  /** The raw text of a stream. `query` is the URL's query string. */
  readonly stream: (model: string, body: Json, query?: string) => Promise<{ type: string; text: string }>;
};

/** Creates a test client of a simulated endpoint with a fixed clock. */
export const createClient = (provider: string, options: Omit<SimulatorOptions, "provider"> = {}): GeminiTestClient => {
  const simulator = createSimulator({ provider, now: () => Date.UTC(2026, 10, 15), ...options });
  const request = (model: string, body: Json, method: string): HttpRequest => ({
    method: "POST",
    url: `https://localhost${paths(provider, model)}:${method}`,
    headers: provider === "google" ? { "x-goog-api-key": "key" } : { authorization: "Bearer token" },
    body: JSON.stringify(
      provider === "code-assist" ? { model, project: "p", user_prompt_id: "u", request: body } : body,
    ),
  });
  return {
    simulator,
    ask: (model, body, method = "generateContent") => send(simulator, request(model, body, method)),
    stream: async (model, body, query = "?alt=sse") => {
      const response = await simulator.handle(request(model, body, `streamGenerateContent${query}`));
      return { type: response.headers["content-type"] ?? "", text: await readBodyText(response) };
    },
  };
};

const paths = (provider: string, model: string): string => {
  if (provider === "google") return `/v1beta/models/${model}`;
  if (provider === "code-assist") return "/v1internal";
  return `/v1/projects/p/locations/global/publishers/google/models/${model}`;
};

/** Sends a request and parses the JSON response. */
export const send = async (simulator: Simulator, request: HttpRequest): Promise<GeminiTestResponse> => {
  const response = await simulator.handle(request);
  const body = asObject(JSON.parse(await readBodyText(response)));
  return { status: response.status, type: response.headers["content-type"] ?? "", body };
};

/** The JSON of every event of a stream. */
export const eventsIn = (text: string): readonly Json[] =>
  text
    .split("\r\n\r\n")
    .filter((event) => event !== "")
    .map((event) => asObject(JSON.parse(event.replace(/^data: /, ""))));

/** The candidate of a response. */
export const candidateIn = (answer: Json): Json => asObject(asArray(answer["candidates"])[0]);

/** The content of a response, ready to be sent back. */
export const contentIn = (answer: Json): Json => asObject(candidateIn(answer)["content"]);

/** The parts of a response. */
export const partsIn = (answer: Json): readonly Json[] => asArray(contentIn(answer)["parts"]).map(asObject);

/** The first signature of a response. */
export const signatureIn = (answer: Json): string =>
  partsIn(answer)
    .map((part) => asText(part["thoughtSignature"]))
    .find((signature) => signature !== "") ?? "";

/** The message of an error envelope. */
export const messageIn = (reply: GeminiTestResponse): string => asText(asObject(reply.body["error"])["message"]);

/** A user message. */
export const user = (...parts: readonly (string | Json)[]): Json => ({
  role: "user",
  parts: parts.map((part) => (typeof part === "string" ? { text: part } : part)),
});

/** A model content. */
export const model = (...parts: readonly Json[]): Json => ({ role: "model", parts });

/** The header of an image of 100 by 75 pixels: ten tokens by area, 85 at least. */
export const png: string = Buffer.from("89504e470d0a1a0a0000000d49484452000000640000004b0802000000", "hex").toString(
  "base64",
);

/** A minimal document of two pages. */
export const pdf: string = Buffer.from("%PDF-1.4 /Type /Page /Type /Page").toString("base64");

/** Declarations of the named functions. */
export const tools = (...names: readonly string[]): Json => ({
  tools: [
    {
      functionDeclarations: names.map((name) => ({
        name,
        description: `The ${name} function`,
        parametersJsonSchema: { type: "object", properties: { path: { type: "string" } } },
      })),
    },
  ],
});
