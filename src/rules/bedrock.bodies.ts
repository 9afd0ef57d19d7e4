import type { RuleTarget } from "./rule.ts";

/** A piece of a body. */
export type Json = Record<string, unknown>;

/** A Bedrock target by model name. */
export const to = (model: string): RuleTarget => ({ wire: "bedrock", provider: "bedrock", model });
export const claude: RuleTarget = to("us.anthropic.claude-sonnet-4-5-20250929-v1:0");
export const claude46: RuleTarget = to("us.anthropic.claude-sonnet-4-6");
export const claude55: RuleTarget = to("global.anthropic.claude-opus-5-5");
export const nova: RuleTarget = to("us.amazon.nova-2-lite-v1:0");
export const llama: RuleTarget = to("us.meta.llama4-maverick-17b-instruct-v1:0");
export const pixtral: RuleTarget = to("us.mistral.pixtral-large-2502-v1:0");
export const writer: RuleTarget = to("us.writer.palmyra-x4-v1:0");
export const qwen: RuleTarget = to("qwen.qwen3-vl-235b-a22b");
export const profile: RuleTarget = to("arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc");

export const text = (words: string): Json => ({ text: words });
export const user = (...content: unknown[]): Json => ({ role: "user", content });
export const assistant = (...content: unknown[]): Json => ({ role: "assistant", content });
export const call = (toolUseId: string, more: Json = {}): Json => ({
  toolUse: { toolUseId, name: "look", input: {}, ...more },
});
export const result = (toolUseId: string, content: unknown = [text("a cat")], more: Json = {}): Json => ({
  toolResult: { toolUseId, content, ...more },
});
export const png: Json = { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } };
export const mp4: Json = { video: { format: "mp4", source: { bytes: "AAAA" } } };
export const inS3: Json = { s3Location: { uri: "s3://bucket/file" } };
export const document = (name: string, format = "pdf", source: Json = { bytes: "JVBERg==" }): Json => ({
  document: { name, format, source },
});
export const point: Json = { cachePoint: { type: "default" } };

export const ask: Json = user(text("What is this?"));
export const spec: Json = {
  name: "look",
  description: "Look.",
  inputSchema: { json: { type: "object", properties: {} } },
};
export const toolConfig: Json = { tools: [{ toolSpec: spec }] };
/** A request around the given messages, with the tool declared. */
export const body = (...messages: unknown[]): Json => ({ messages, toolConfig });
/** A request with settings of its own around one question. */
export const having = (more: Json): Json => ({ messages: [ask], ...more });
/** One finished exchange: a call and the given blocks after it. */
export const exchange = (...answer: unknown[]): Json => body(ask, assistant(call("a")), user(...answer));
/** A request with one tool, changed as given. */
export const declaring = (more: Json): Json => having({ toolConfig: { tools: [{ toolSpec: { ...spec, ...more } }] } });

export const fine: Json = exchange(result("a"));
export const plain: Json = { messages: [ask], system: [] };
