import { readBodyText, type HttpRequest } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../simulator.ts";
import type { Script } from "../model/script.ts";

/** A response. */
export type ChatTestResponse = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Json;
};

/** A test client of a simulated server. The default model thinks and calls tools. */
export type ChatTestClient = {
  readonly simulator: Simulator;
  readonly ask: (body: Json) => Promise<ChatTestResponse>;
  readonly get: (path: string) => Promise<ChatTestResponse>;
  /** The text of a stream. */
  readonly raw: (body: Json) => Promise<string>;
  readonly chunks: (body: Json) => Promise<readonly Json[]>;
};

/** Creates a test client of a simulated server with a fixed clock. */
export const createClient = (provider: string, options: Omit<SimulatorOptions, "provider"> = {}): ChatTestClient => {
  const simulator = createSimulator({ provider, now: () => Date.UTC(2026, 10, 15), ...options });
  const { base, models } = simulator.provider;
  const request = (body: Json): HttpRequest => ({
    method: "POST",
    url: `https://localhost${base}/chat/completions`,
    headers: { authorization: "Bearer key-0123456789" },
    // OpenAI's newest models do not reason while tools are declared.
    body: JSON.stringify({ model: provider === "openai-chat" ? "gpt-5" : models[0]?.id, ...body }),
  });
  const raw: ChatTestClient["raw"] = async (body) =>
    readBodyText(await simulator.handle(request({ ...body, stream: true })));
  return {
    simulator,
    raw,
    ask: (body) => send(simulator, request(body)),
    get: (path) =>
      send(simulator, {
        method: "GET",
        url: `https://localhost${base}${path}`,
        headers: { authorization: "Bearer k" },
      }),
    chunks: async (body) => chunksIn(await raw(body)),
  };
};

/** Sends a request and parses the JSON response. */
export const send = async (simulator: Simulator, request: HttpRequest): Promise<ChatTestResponse> => {
  const { status, headers, ...response } = await simulator.handle(request);
  return { status, headers, body: asObject(JSON.parse(await readBodyText({ status, headers, ...response }))) };
};

/** The JSON of every chunk of a stream. */
export const chunksIn = (text: string): readonly Json[] =>
  text
    .split("\n\n")
    .filter((event) => event.includes("data: {"))
    .map((event) => asObject(JSON.parse(event.slice(event.indexOf("data: ") + 6))));

/** The choice of a response or of a chunk. */
export const choiceIn = (answer: Json): Json => asObject(asArray(answer["choices"])[0]);

/** The message of a response, ready to be sent back. */
export const messageIn = (answer: Json): Json => asObject(choiceIn(answer)["message"]);

/** The text of a response. */
export const wordsIn = (answer: Json): string => asText(messageIn(answer)["content"]);

/** The calls of a message. */
export const callsIn = (message: Json): readonly Json[] => asArray(message["tool_calls"]).map(asObject);

/** The usage of a response. */
export const usageIn = (answer: Json): Json => asObject(answer["usage"]);

/** The content of a streamed message. */
export type CollectedMessage = {
  readonly content: string;
  readonly thought: string;
  readonly calls: readonly Json[];
  readonly finish: unknown;
};

/** Collects the chunks of a stream into a message. */
export const collectChunks = (chunks: readonly Json[]): CollectedMessage => {
  const calls = new Map<unknown, { id: string; name: string; arguments: string }>();
  let [content, thought, finish]: [string, string, unknown] = ["", "", undefined];
  for (const choice of chunks.map(choiceIn)) {
    const delta = asObject(choice["delta"]);
    content += typeof delta["content"] === "string" ? delta["content"] : "";
    thought += asText(delta["reasoning_content"]) || asText(delta["reasoning"]) || thinkingIn(delta["content"]);
    finish = choice["finish_reason"] ?? finish;
    callsIn(delta).forEach((call, place) => {
      const key = call["index"] ?? place;
      const { name, arguments: given } = asObject(call["function"]);
      const known = calls.get(key) ?? { id: "", name: "", arguments: "" };
      calls.set(key, {
        id: asText(call["id"]) || known.id,
        name: asText(name) || known.name,
        arguments: known.arguments + asText(given),
      });
    });
  }
  return { content, thought, calls: [...calls.values()], finish };
};

const thinkingIn = (content: unknown): string =>
  asArray(content)
    .flatMap((part) => asArray(asObject(part)["thinking"]))
    .map((part) => asText(asObject(part)["text"]))
    .join("");

/** Declares tools. */
export const tools = (...names: readonly string[]): Json => ({
  tools: names.map((name) => ({
    type: "function",
    function: { name, description: "", parameters: { type: "object", properties: { path: { type: "string" } } } },
  })),
});

/** A user message. */
export const user = (content: string | readonly Json[]): Json => ({ role: "user", content });

/** A tool message. */
export const result = (id: unknown, content: string | readonly Json[]): Json => ({
  role: "tool",
  tool_call_id: id,
  content,
});

/** A script that replies to "look" with thinking, text and two calls. */
export const lookScript: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        {
          think: "Two files to read.",
          say: "I will look.",
          call: [
            { tool: "snap", input: { path: "a.png" } },
            { tool: "stat", input: { path: "b" } },
          ],
        },
      ],
    },
  ],
};

/** The prompt that `lookScript` matches. */
export const question: Json = { messages: [user("Please look.")], ...tools("snap", "stat") };

/** The header of an image of 100 by 75 pixels. */
export const png: string = (() => {
  const bytes = Buffer.alloc(29);
  bytes.write("89504e470d0a1a0a0000000d49484452", "hex");
  bytes.writeUInt32BE(100, 16);
  bytes.writeUInt32BE(75, 20);
  return bytes.toString("base64");
})();

/** That image as a content part. */
export const picture: Json = { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } };

/** A text of this many tokens. */
export const longText = (tokens: number): string => "four".repeat(tokens);
