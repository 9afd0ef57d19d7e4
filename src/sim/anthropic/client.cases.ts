import { readBodyText, type HttpHeaders, type HttpRequest } from "../../world/net.ts";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";
import { createSimulator, type Simulator, type SimulatorOptions } from "../simulator.ts";

/** A test client of a simulated Anthropic API. */
export type AnthropicTestClient = {
  readonly simulator: Simulator;
  readonly send: (body: Json, headers?: HttpHeaders, path?: string) => Promise<AnthropicTestResponse>;
  /** The data of the stream's events. */
  readonly stream: (body: Json, headers?: HttpHeaders) => Promise<readonly Json[]>;
};

export type AnthropicTestResponse = { readonly status: number; readonly headers: HttpHeaders; readonly body: Json };

export const versionHeaders: HttpHeaders = { "x-api-key": "sk-ant-test", "anthropic-version": "2023-06-01" };

export const createClient = (options: Omit<SimulatorOptions, "provider"> = {}): AnthropicTestClient => {
  const simulator = createSimulator({ provider: "anthropic", now: () => 0, ...options });
  const text = async (request: HttpRequest): Promise<{ status: number; headers: HttpHeaders; text: string }> => {
    const response = await simulator.handle(request);
    return { status: response.status, headers: response.headers, text: await readBodyText(response) };
  };
  return {
    simulator,
    send: async (body, headers = {}, path = "/v1/messages") => {
      const answer = await text(post(body, headers, path));
      return { status: answer.status, headers: answer.headers, body: asObject(JSON.parse(answer.text)) };
    },
    stream: async (body, headers = {}) => eventsIn((await text(post({ ...body, stream: true }, headers))).text),
  };
};

/** A request as a client sends it. */
export const post = (body: Json, headers: HttpHeaders = {}, path = "/v1/messages"): HttpRequest => ({
  method: "POST",
  url: `https://api.anthropic.com${path}`,
  headers: { ...versionHeaders, ...headers },
  body: JSON.stringify(body),
});

const eventsIn = (text: string): readonly Json[] =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => asObject(JSON.parse(line.slice(6))));

export const ls: Json = {
  name: "ls",
  description: "Lists a folder.",
  input_schema: { type: "object", properties: { path: { type: "string" } } },
};

/** A request with one question. */
export const ask = (text: string, more: Json = {}): Json => ({
  model: "claude-opus-5-5",
  max_tokens: 4000,
  tools: [ls],
  messages: [{ role: "user", content: text }],
  ...more,
});

/** Extends a request by the assistant's content and the user's next message. */
export const followUp = (request: Json, content: unknown, said: unknown): Json => ({
  ...request,
  messages: [
    ...(request["messages"] as readonly unknown[]),
    { role: "assistant", content },
    { role: "user", content: said },
  ],
});

/** The header of an image of 1000 by 750 pixels. */
export const picture: Json = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgoAAAANSUhEUgAAA+gAAALuCAYAAAA=" },
};
