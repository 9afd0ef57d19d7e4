import { parameters, png, targetsOf } from "../openai/rows.cases.ts";
import type { RuleTarget } from "../rule.ts";

/** Fields of an item or a request. */
type ResponsesFields = Readonly<Record<string, unknown>>;

/** Responses at one provider, for one model. */
export const at: (provider?: string, model?: string) => RuleTarget = targetsOf("openai-responses");

/** Each vendor with a current model. */
export const openai: RuleTarget = at("openai", "gpt-5.4");
export const xai: RuleTarget = at("xai", "grok-4");
export const deepseek: RuleTarget = at("deepseek", "deepseek-v4-flash");

/** A request with this input and further fields. */
export const ask = (input: unknown, more: ResponsesFields = {}): unknown => ({ model: "m", input, ...more });

/** A user message. */
export const user = (content: unknown = "hi"): ResponsesFields => ({ role: "user", content });

/** A message of the model, as the API returns it. */
export const said = (id: string, words = "so"): ResponsesFields => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: words, annotations: [] }],
});

/** A reasoning item, with the encrypted content that a stateless server needs. */
export const thought = (id: string, more: ResponsesFields = {}): ResponsesFields => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: "gAAAAA==",
  ...more,
});

/** A function call. */
export const call = (id: string, more: ResponsesFields = {}): ResponsesFields => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: "{}",
  ...more,
});

/** The output of a function call. */
export const output = (id: unknown, held: unknown = "done"): ResponsesFields => ({
  type: "function_call_output",
  call_id: id,
  output: held,
});

/** A complete exchange of one call. */
export const exchange = (id: string, more: ResponsesFields = {}): readonly unknown[] => [
  user(),
  call(id, more),
  output(id),
];

/** The smallest requests that pass everywhere: text, and a call with its output. */
export const ok: unknown = ask([user()]);
export const okExchange: unknown = ask(exchange("call_1"));

/** A declared tool. */
export const tool = (name: string, more: ResponsesFields = {}): ResponsesFields => ({
  type: "function",
  name,
  parameters,
  strict: false,
  ...more,
});

/** Parts of content. */
export const text = (words = "look"): unknown => ({ type: "input_text", text: words });
export const image = (url: unknown = png, more: ResponsesFields = {}): unknown => ({
  type: "input_image",
  image_url: url,
  ...more,
});
export const file = (held: ResponsesFields): unknown => ({ type: "input_file", ...held });
