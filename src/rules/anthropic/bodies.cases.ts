import type { RuleTarget } from "../rule.ts";

/** A part of a request body. */
export type AnthropicJson = Record<string, unknown>;

/** An Anthropic target by model name. */
export const to = (model: string, provider = "anthropic"): RuleTarget => ({ wire: "anthropic", provider, model });
export const newest: RuleTarget = to("claude-opus-5-5");
export const sonnet: RuleTarget = to("claude-sonnet-4-5");
export const opus46: RuleTarget = to("claude-opus-4-6");
export const opus48: RuleTarget = to("claude-opus-4-8");

export const text = (words: string, more: AnthropicJson = {}): AnthropicJson => ({
  type: "text",
  text: words,
  ...more,
});
export const user = (...content: unknown[]): AnthropicJson => ({ role: "user", content });
export const assistant = (...content: unknown[]): AnthropicJson => ({ role: "assistant", content });
export const system = (words: string): AnthropicJson => ({ role: "system", content: words });
export const call = (id: string, more: AnthropicJson = {}): AnthropicJson => ({
  type: "tool_use",
  id,
  name: "look",
  input: {},
  ...more,
});
export const result = (id: string, more: AnthropicJson = {}): AnthropicJson => ({
  type: "tool_result",
  tool_use_id: id,
  content: "a cat",
  ...more,
});
export const thinking = (more: AnthropicJson = {}): AnthropicJson => ({
  type: "thinking",
  thinking: "Hm.",
  signature: "EpACc2ln",
  ...more,
});
export const png: AnthropicJson = {
  type: "image",
  source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" },
};
export const pdf: AnthropicJson = {
  type: "document",
  source: { type: "base64", media_type: "application/pdf", data: "JVBERg==" },
};
export const image = (source: AnthropicJson): AnthropicJson => ({ type: "image", source });
export const cached: AnthropicJson = { cache_control: { type: "ephemeral" } };

export const ask: AnthropicJson = { role: "user", content: "What is this?" };
/** A whole request around the given messages. */
export const body = (...messages: unknown[]): AnthropicJson => ({ model: "claude", max_tokens: 4096, messages });
/** A request with one question and the given settings. */
export const having = (more: AnthropicJson): AnthropicJson => ({ ...body(ask), ...more });
/** One complete exchange: a call, then the given blocks. */
export const exchange = (...answer: unknown[]): AnthropicJson => body(ask, assistant(call("a")), user(...answer));
export const look: AnthropicJson = {
  name: "look",
  description: "Look.",
  input_schema: { type: "object", properties: {} },
};
/** A request with one tool that has the given schema. */
export const describing = (schema: unknown, more: AnthropicJson = {}): AnthropicJson =>
  having({ tools: [{ name: "look", input_schema: schema, ...more }] });

export const fine: AnthropicJson = exchange(result("a"));
export const plain: AnthropicJson = body(ask);
