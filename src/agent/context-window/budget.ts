/** How the tokens that a model can read are divided. */
export type ContextBudget = {
  /** How many tokens the model can read. */
  readonly limit: number;
  /** Tokens of the system prompt, the tools and the opening notice. */
  readonly prefix: number;
  /** Tokens left for the conversation. */
  readonly conversation: number;
  /** The size of a request at which room is made. */
  readonly fullAt: number;
  /** The longest summary, in tokens. */
  readonly summary: number;
  /** How much text one request for a summary in pieces may carry. */
  readonly chunk: number;
};

/** Inputs of a budget. A share of 0 means the default. */
export type BudgetInput = { readonly limit: number; readonly share: number; readonly prefix: number };

const defaultShare = 0.7;

/** The share of a context reserved for the answer. */
const answerShare = 0.1;

/** The longest summary, in tokens. */
const maxSummaryTokens = 8000;

/** Tokens of the prompt around a piece that is summarised. */
const summaryPromptTokens = 500;

/**
 * Divides a context. After a compaction the conversation takes at most two thirds of its span (a fifth for the summary,
 * the rest for what is kept), so there is always room for more before the next one.
 */
export const computeBudget = ({ limit, share, prefix: head }: BudgetInput): ContextBudget => {
  const room = Math.max(0, (1 - answerShare) * limit - head);
  const wanted = (share || defaultShare) * limit - head;
  // A large system prompt can take more than the share by itself; then what is left of the context counts.
  const span = wanted >= limit / 10 ? Math.min(wanted, room) : 0.75 * room;
  return {
    limit,
    prefix: head,
    conversation: span,
    fullAt: head + span,
    summary: Math.min(maxSummaryTokens, span / 5),
    chunk: Math.max(200, 0.55 * limit - summaryPromptTokens),
  };
};

/** A request that is larger than its model can read. */
export class ContextOverflowError extends Error {
  constructor(facts: {
    readonly model: string;
    readonly limit: number;
    readonly head: number;
    readonly tokens: number;
  }) {
    super(explainOverflow(facts));
    this.name = "ContextError";
  }
}

const explainOverflow = ({
  model,
  limit,
  head,
  tokens,
}: ConstructorParameters<typeof ContextOverflowError>[0]): string => {
  const reads = `${model} can read ${Math.round(limit)}`;
  if (head > (1 - answerShare) * limit)
    return `The system prompt and the tools take about ${Math.round(head)} tokens, and ${reads}. Use a model with a larger context, or fewer tools.`;
  return `The request has about ${Math.round(tokens)} tokens, and ${reads}. Send a shorter message, or use a model with a larger context.`;
};
