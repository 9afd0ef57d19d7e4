import type { WireId } from "../wire/wire.ts";
import type { ModelFamily } from "./define.ts";

/**
 * A deviation of an endpoint from its description, learned from an error response and remembered for that endpoint and
 * model.
 */
export type Quirk =
  /** It refuses its own seals: sealed thinking is left out. */
  | "unsealed"
  /** Results may not contain files: these go into a user message after them. */
  | "media-after"
  /** Consecutive messages of one side are refused: they are merged. */
  | "alternate-roles"
  /** The field for reasoning is refused. */
  | "no-reasoning"
  /** Every message of the model needs reasoning. */
  | "reasoning-demanded"
  /** The reasoning effort cannot be set. */
  | "no-effort"
  /** The reasoning effort cannot be set in a request with tools. */
  | "no-effort-with-tools"
  /** A request with tools must turn reasoning off. */
  | "effort-none-with-tools"
  | "max-tokens"
  | "max-completion-tokens"
  | "no-stream-options"
  | "no-sampling"
  /** Its output limit or context window is smaller than known. */
  | "short-answers"
  /** Reasoning summaries are refused: the model does not reason, or the account has no access to them. */
  | "no-thought-summaries";

/**
 * The changes of each quirk to traits and dialect. Dialect fields are those of Chat Completions unless all have them.
 */
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
  /** The API families it applies to. Default: all. */
  readonly only?: readonly WireId[];
};
