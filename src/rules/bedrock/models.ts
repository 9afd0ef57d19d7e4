import { type ClaudeModel, findClaude } from "../anthropic/models.ts";
import type { RuleTarget } from "../rule.ts";

/** Support for a kind of media inside a toolResult. `unread`: accepted alone, but the model does not see it. */
export type NestedSupport = "taken" | "refused" | "unread" | "unsure";

/** The differences between the model families on Bedrock. */
export type BedrockFamily = {
  readonly id: "claude" | "nova" | "llama" | "mistral" | "writer" | "qwen" | "other" | "unknown";
  /** Inside a toolResult: images, PDF documents, other documents, videos. */
  readonly nested: {
    readonly image: NestedSupport;
    readonly pdf: NestedSupport;
    readonly document: NestedSupport;
    readonly video: NestedSupport;
  };
  /** Kinds of blocks refused in any message. */
  readonly refusedBlocks: readonly string[];
  /** Only toolResults are allowed in a turn that answers calls. */
  readonly loneResults: boolean;
  /** The conversation may start with the assistant. */
  readonly assistantFirst: boolean;
  /** Consecutive messages of one role were recorded as accepted. */
  readonly mergesRoles: boolean;
  /** `toolResult.status` is supported. */
  readonly status: boolean;
  /** Reasoning is sent back with a signature (Claude), without one, or either way. */
  readonly signature: "needed" | "refused" | "free";
  /** Kinds of toolChoice it takes. */
  readonly toolChoice: readonly string[];
};

/**
 * The model family a body is meant for. Without a model the strictest one; for an unrecognised name the rules common to
 * all.
 */
export const bedrockFamily = (target: RuleTarget): BedrockFamily => {
  const model = target.model?.toLowerCase();
  if (model === undefined) return unknown;
  return rows.find(([pattern]) => pattern.test(model))?.[1] ?? other;
};

/** The Claude model with this Bedrock name, if it is one. */
export const findBedrockClaude = (target: RuleTarget): ClaudeModel | undefined =>
  target.model === undefined ? undefined : findClaude(target.model.toLowerCase());

const everyChoice = ["auto", "any", "tool"];

const other: BedrockFamily = {
  id: "other",
  nested: { image: "taken", pdf: "unsure", document: "unsure", video: "unsure" },
  refusedBlocks: [],
  loneResults: false,
  assistantFirst: true,
  mergesRoles: false,
  status: true,
  signature: "free",
  toolChoice: everyChoice,
};

const unknown: BedrockFamily = {
  ...other,
  id: "unknown",
  nested: { image: "taken", pdf: "refused", document: "refused", video: "refused" },
  loneResults: true,
  assistantFirst: false,
};

const claude: BedrockFamily = {
  ...other,
  id: "claude",
  nested: { image: "taken", pdf: "unread", document: "taken", video: "refused" },
  refusedBlocks: ["video", "audio"],
  signature: "needed",
};

const nova: BedrockFamily = {
  ...other,
  id: "nova",
  nested: { image: "taken", pdf: "refused", document: "taken", video: "unsure" },
  assistantFirst: false,
  mergesRoles: true,
  signature: "refused",
};

const llama: BedrockFamily = {
  ...other,
  id: "llama",
  nested: { image: "taken", pdf: "taken", document: "taken", video: "refused" },
  refusedBlocks: ["video", "audio"],
  loneResults: true,
  assistantFirst: false,
  mergesRoles: true,
  signature: "refused",
  toolChoice: ["auto"],
};

const mistral: BedrockFamily = {
  ...llama,
  id: "mistral",
  nested: { image: "refused", pdf: "taken", document: "taken", video: "refused" },
  refusedBlocks: ["video"],
  toolChoice: everyChoice,
};

const noMedia = { image: "refused", pdf: "refused", document: "refused", video: "refused" } as const;

const writer: BedrockFamily = { ...llama, id: "writer", nested: noMedia, status: false, toolChoice: everyChoice };

const qwen: BedrockFamily = { ...other, id: "qwen", nested: noMedia, signature: "refused" };

const rows: readonly (readonly [RegExp, BedrockFamily])[] = [
  [/claude/, claude],
  [/nova-micro/, { ...nova, refusedBlocks: ["image", "document", "video", "audio"] }],
  [/\bnova/, nova],
  [/llama/, llama],
  [/mistral|pixtral|ministral|magistral|devstral|voxtral/, mistral],
  [/writer|palmyra/, writer],
  [/qwen|kimi|moonshot/, qwen],
  [/titan|deepseek/, { ...other, mergesRoles: true }],
];
