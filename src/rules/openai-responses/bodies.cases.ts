import { parameters, png, targetsOf } from "../openai/rows.cases.ts";
import type { RuleTarget } from "../rule.ts";

/** Anything with fields. */
type ResponsesFields = Readonly<Record<string, unknown>>;

/** Responses at one provider, for one model. */
export const at: (provider?: string, model?: string) => RuleTarget = targetsOf("openai-responses");

/** Every vendor with a model of today. */
export const openai: RuleTarget = at("openai", "gpt-5.4");
export const xai: RuleTarget = at("xai", "grok-4");
export const deepseek: RuleTarget = at("deepseek", "deepseek-v4-flash");

/** A request with this input, and whatever else. */
export const ask = (input: unknown, more: ResponsesFields = {}): unknown => ({ model: "m", input, ...more });

/** What a user says. */
export const user = (content: unknown = "hi"): ResponsesFields => ({ role: "user", content });

/** What the model said, as the API gave it out. */
export const said = (id: string, words = "so"): ResponsesFields => ({
  type: "message",
  id,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: words, annotations: [] }],
});

/** A thought, with the blob that lets a stateless server read it. */
export const thought = (id: string, more: ResponsesFields = {}): ResponsesFields => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: "gAAAAA==",
  ...more,
});

/** A call. */
export const call = (id: string, more: ResponsesFields = {}): ResponsesFields => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: "{}",
  ...more,
});

/** Its output. */
export const output = (id: unknown, held: unknown = "done"): ResponsesFields => ({
  type: "function_call_output",
  call_id: id,
  output: held,
});

/** A whole exchange of one call. */
export const exchange = (id: string, more: ResponsesFields = {}): readonly unknown[] => [
  user(),
  call(id, more),
  output(id),
];

/** The smallest requests that pass everywhere: words, and a call with its output. */
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
