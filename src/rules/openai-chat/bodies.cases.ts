import { parameters, png } from "../openai/rows.cases.ts";

/** A request with these messages and further fields. */
export const chat = (messages: unknown, more: Readonly<Record<string, unknown>> = {}): unknown => ({
  model: "m",
  messages,
  ...more,
});

/** A user message. */
export const user = (content: unknown = "hi"): Readonly<Record<string, unknown>> => ({ role: "user", content });

/** An assistant message. */
export const assistant = (
  content: unknown,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  role: "assistant",
  content,
  ...more,
});

/** An empty reasoning field, which vendors with thinking models require. */
export const reasoned: Readonly<Record<string, unknown>> = { reasoning_content: "" };

/** One call; the arguments are text. */
export const call = (id: string, input: unknown = "{}", name = "read"): Readonly<Record<string, unknown>> => ({
  id,
  type: "function",
  function: { name, arguments: input },
});

/** An assistant message that only calls. */
export const calls = (...made: readonly unknown[]): Readonly<Record<string, unknown>> => ({
  role: "assistant",
  content: null,
  tool_calls: made,
});

/** A result. */
export const result = (id: unknown, content: unknown = "done"): Readonly<Record<string, unknown>> => ({
  role: "tool",
  tool_call_id: id,
  content,
});

/** A complete exchange of one call, in the smallest conversation that passes everywhere. */
export const exchange = (id: string, more: Readonly<Record<string, unknown>> = {}): readonly unknown[] => [
  user(),
  { ...calls(call(id)), ...more },
  result(id),
];

/** The smallest requests that pass everywhere: text, and a call with its result. */
export const ok: unknown = chat([user()]);
export const okExchange: unknown = chat(exchange("call_1"));

/** A declared tool. */
export const tool = (
  name: string,
  more: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> => ({
  type: "function",
  function: { name, parameters, ...more },
});

/** Parts of content. */
export const text = (words = "look"): unknown => ({ type: "text", text: words });
export const image = (url: unknown = png): unknown => ({ type: "image_url", image_url: { url } });
export const file = (held: unknown): unknown => ({ type: "file", file: held });
