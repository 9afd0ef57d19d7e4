/** How the tokens of a context window are divided. */
export type ContextBudget = {
  /** The size of the context window. */
  readonly limit: number;
  /** Tokens of the system prompt, the tools and the opening notice. */
  readonly prefix: number;
  /** Tokens left for the conversation. */
  readonly conversation: number;
  /** The size of a request at which the context is compacted. */
  readonly fullAt: number;
  /** The longest summary, in tokens. */
  readonly summary: number;
  /** Tokens of text per request when a summary is written in chunks. */
  readonly chunk: number;
};

/** The context window, the share of it that may be full, and the size of the request prefix. A share of 0 means the default. */
export type BudgetInput = { readonly limit: number; readonly share: number; readonly prefix: number };

const defaultShare = 0.7;

/** The share of a context window reserved for the answer. */
const answerShare = 0.1;

/** The longest summary, in tokens. */
const maxSummaryTokens = 8000;

/** Tokens of the prompt around a chunk that is summarized. */
const summaryPromptTokens = 500;

/**
 * Divides a context window. After a compaction the conversation takes at most two thirds of its tokens (a fifth for the
 * summary, the rest for recent entries), so there is always room before the next one.
 */
export const computeBudget = ({ limit, share, prefix }: BudgetInput): ContextBudget => {
  const room = Math.max(0, (1 - answerShare) * limit - prefix);
  const wanted = (share || defaultShare) * limit - prefix;
  // A large system prompt can take more than the share by itself; then most of the rest is used.
  const conversation = wanted >= limit / 10 ? Math.min(wanted, room) : 0.75 * room;
  return {
    limit,
    prefix,
    conversation,
    fullAt: prefix + conversation,
    summary: Math.min(maxSummaryTokens, conversation / 5),
    chunk: Math.max(200, 0.55 * limit - summaryPromptTokens),
  };
};

/** A request that does not fit into the model's context window. */
export class ContextOverflowError extends Error {
  constructor(facts: {
    readonly model: string;
    readonly limit: number;
    readonly prefix: number;
    readonly tokens: number;
  }) {
    super(explainOverflow(facts));
    this.name = "ContextOverflowError";
  }
}

const explainOverflow = ({
  model,
  limit,
  prefix,
  tokens,
}: ConstructorParameters<typeof ContextOverflowError>[0]): string => {
  const window = `the context window of ${model} is ${Math.round(limit)}`;
  if (prefix > (1 - answerShare) * limit)
    return `The system prompt and the tools take about ${Math.round(prefix)} tokens, and ${window}. Use a model with a larger context window, or fewer tools.`;
  return `The request has about ${Math.round(tokens)} tokens, and ${window}. Send a shorter message, or use a model with a larger context window.`;
};
