import type { WireId } from "../wire/wire.ts";
import type { ModelFamily } from "./define.ts";

/**
 * Something an endpoint turned out to want otherwise than described: learned
 * from a refusal, and kept for that endpoint and model from then on.
 */
export type Quirk =
  /** It cannot read its own seals any more: sealed thinking stays out. */
  | "unsealed"
  /** Results hold no files: these stand in a user message after them. */
  | "media-after"
  /** Messages of one side in a row are refused: they go as one. */
  | "alternate-roles"
  /** The field for reasoning is refused. */
  | "no-reasoning"
  /** Every message of the model needs reasoning. */
  | "reasoning-demanded"
  /** How hard to think cannot be set. */
  | "no-effort"
  /** How hard to think cannot be set in a request with tools. */
  | "no-effort-with-tools"
  /** A request with tools has to say that the model does not think. */
  | "effort-none-with-tools"
  | "max-tokens"
  | "max-completion-tokens"
  | "no-stream-options"
  | "no-sampling"
  /** It writes fewer tokens, or has less room for them, than was thought. */
  | "short-answers"
  /** Summaries of thoughts are refused: the model does not think, or the account may not have them. */
  | "no-thought-summaries";

/** What a quirk changes, in the terms of the passes and of the dialects. Dialect fields are those of Chat Completions unless all have them. */
export const quirks: Readonly<Record<Quirk, QuirkData>> = {
  unsealed: { traits: { thinking: { unsealed: true } } },
  "media-after": { traits: { media: { result: {}, errorResult: {} } } },
  "alternate-roles": {
    only: ["anthropic", "openai-chat", "openai-responses"],
    traits: { order: { alternate: true } },
  },
  "no-reasoning": {
    only: ["openai-chat"],
    traits: { thinking: { form: "none", backfill: undefined } },
    dialect: { reasoning: "none" },
  },
  "reasoning-demanded": {
    only: ["openai-chat"],
    traits: { thinking: { form: "plain", backfill: { text: " ", on: "all" } } },
    dialect: { reasoning: "reasoning_content" },
  },
  "no-effort": {
    only: ["openai-chat", "openai-responses"],
    dialect: { thinking: { field: "none" }, effortWithTools: "any", efforts: {} },
  },
  "no-effort-with-tools": { only: ["openai-chat"], dialect: { effortWithTools: "absent" } },
  "effort-none-with-tools": { only: ["openai-chat"], dialect: { effortWithTools: "none" } },
  "max-tokens": { only: ["openai-chat"], dialect: { maxTokens: "max_tokens" } },
  "max-completion-tokens": { only: ["openai-chat"], dialect: { maxTokens: "max_completion_tokens" } },
  "no-stream-options": { only: ["openai-chat"], dialect: { streamOptions: false } },
  "no-sampling": { dialect: { sampling: false } },
  "short-answers": { only: ["anthropic"], dialect: { maxTokens: 4096 } },
  "no-thought-summaries": { dialect: { summaries: "never" } },
};

type QuirkData = Omit<ModelFamily<Readonly<Record<string, unknown>>>, "match"> & {
  /** The families it can happen with; all where absent. */
  readonly only?: readonly WireId[];
};
