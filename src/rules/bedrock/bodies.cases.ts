import type { RuleTarget } from "../rule.ts";

/** A part of a request body. */
export type BedrockJson = Record<string, unknown>;

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

export const text = (words: string): BedrockJson => ({ text: words });
export const user = (...content: unknown[]): BedrockJson => ({ role: "user", content });
export const assistant = (...content: unknown[]): BedrockJson => ({ role: "assistant", content });
export const call = (toolUseId: string, more: BedrockJson = {}): BedrockJson => ({
  toolUse: { toolUseId, name: "look", input: {}, ...more },
});
export const result = (toolUseId: string, content: unknown = [text("a cat")], more: BedrockJson = {}): BedrockJson => ({
  toolResult: { toolUseId, content, ...more },
});
export const png: BedrockJson = { image: { format: "png", source: { bytes: "iVBORw0KGgo=" } } };
export const mp4: BedrockJson = { video: { format: "mp4", source: { bytes: "AAAA" } } };
export const inS3: BedrockJson = { s3Location: { uri: "s3://bucket/file" } };
export const document = (name: string, format = "pdf", source: BedrockJson = { bytes: "JVBERg==" }): BedrockJson => ({
  document: { name, format, source },
});
export const point: BedrockJson = { cachePoint: { type: "default" } };

export const ask: BedrockJson = user(text("What is this?"));
export const spec: BedrockJson = {
  name: "look",
  description: "Look.",
  inputSchema: { json: { type: "object", properties: {} } },
};
export const toolConfig: BedrockJson = { tools: [{ toolSpec: spec }] };
/** A request around the given messages, with the tool declared. */
export const body = (...messages: unknown[]): BedrockJson => ({ messages, toolConfig });
/** A request with one question and the given settings. */
export const having = (more: BedrockJson): BedrockJson => ({ messages: [ask], ...more });
/** One complete exchange: a call, then the given blocks. */
export const exchange = (...answer: unknown[]): BedrockJson => body(ask, assistant(call("a")), user(...answer));
/** A request with one tool, changed as given. */
export const declaring = (more: BedrockJson): BedrockJson =>
  having({ toolConfig: { tools: [{ toolSpec: { ...spec, ...more } }] } });

export const fine: BedrockJson = exchange(result("a"));
export const plain: BedrockJson = { messages: [ask], system: [] };
