import { estimateTokens } from "../../context/estimate-tokens.ts";
import { cutAfter, cutBefore, openingNotice } from "../../transcript/compaction-cut.ts";
import { ProviderError } from "../../transport/failure.ts";
import type { Transport } from "../../transport/transport.ts";
import type { RequestBuilder } from "../requests/builder.ts";
import { computeBudget, ContextOverflowError, type ContextBudget } from "./budget.ts";
import { EntrySizes, sum } from "./sizes.ts";
import type { AgentEvent, CompactionInfo } from "../events.ts";
import type { TurnHooks } from "../hooks/turn-hooks.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import type { ModelRouter } from "../models/router.ts";
import type { SpendingTracker } from "../models/spending.ts";
import { missingSummaryText } from "../prompts.ts";

/** Options of a context window. */
export type ContextWindowOptions = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly router: ModelRouter;
  readonly spending: SpendingTracker;
  /** The share of the window that may be full before it is compacted; 0 for never. */
  readonly compactAt: number;
  /** The size of a model's context window in tokens, where settings know better than our list. */
  readonly contextOf?: (model: ModelRef) => number | undefined;
  /** Text the model has to read again after older entries were replaced by a summary. */
  readonly compactionNotice?: () => string | undefined;
  /** Hooks before and after a compaction. */
  readonly hooks?: Pick<TurnHooks, "beforeCompaction" | "afterCompaction"> | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** A compaction the user asked for, and what its summary should keep in detail. */
type CompactionRequest = { readonly focus?: string | undefined };

/** Requests of fewer tokens fit every model of our list, so the list need not be loaded. */
const fitsEverywhere = 6000;

/** Requests of fewer tokens leave room for the longest answer in every context window whose API demands an output limit (64k in 200k). */
const alwaysFitsAnswer = 100_000;

/** The smallest output limit that is requested: if even that does not fit, the conversation has to be compacted. */
const minAnswerTokens = 1024;

/** How much larger a request may be than estimated. */
const estimateMargin = 1.1;

/** Results longer than this are shortened once they are old: before the newest fifth of the conversation. */
const maxOldResultLength = 2000;
const newestShare = 0.2;

/** The smallest context window that is learned from a refusal. */
const minLearnedContext = 4000;

/** The lengths to which texts in results are shortened, in characters, tried in this order. */
const resultLimits = [256_000, 128_000, 64_000, 32_000, 16_000, 8000, 4000, 2000, 1000, 500, 200];

/** The fewest tokens a summary on request must replace. */
const minReplacedTokens = 1000;

/** The most tokens a provider counts per estimated token. If it counts more, it counts something else. */
const maxCorrection = 3;

/** How much estimates may be too low as long as no provider has counted. */
const uncountedMargin = 1.15;

/**
 * Keeps a conversation within the context window of its model: measures it, and compacts it when it is full. Counts come
 * from the provider's usage, with estimates for the entries since.
 */
export class ContextWindow {
  readonly #options: ContextWindowOptions;
  readonly #sizes: EntrySizes;
  /** The tokens a provider counted, and for how many entries. Undefined after a compaction. */
  #counted: { readonly tokens: number; readonly entries: number } | undefined;
  /** The tokens a provider counts per estimated token; never less than one, since the next text may be of another kind. */
  #correction: number | undefined;
  readonly #prefixSizes = new WeakMap<RequestBuilder["prefix"], number>();
  /** Context windows learned from requests that were refused as too long, by model. */
  readonly #learned = new Map<string, number>();

  constructor(options: ContextWindowOptions) {
    this.#options = options;
    this.#sizes = new EntrySizes(options.journal.ledger);
  }

  /** Records the tokens a provider counted for the conversation up to an entry. */
  recordUsage(tokens: number, entries: number): void {
    const { journal, router } = this.#options;
    const { dropped } = journal.ledger;
    const name = modelName(router.current);
    if (tokens > (this.#learned.get(name) ?? Number.POSITIVE_INFINITY)) this.#learned.delete(name);
    this.#counted = { tokens, entries: entries + dropped };
    const { summary, cut } = this.#sizes.summary;
    const estimated = this.#prefixTokens() + estimateTokens(summary) + sum(this.#sizes.all().slice(cut, entries));
    // A short request is mostly framing, which does not tell how texts are counted.
    if (estimated > 1000) this.#correction = Math.min(maxCorrection, Math.max(1, tokens / estimated));
  }

  get #factor(): number {
    return this.#correction ?? 1;
  }

  /** Records that a model refused a request as too long: its window is smaller than listed, or it counts more than estimated. */
  async recordRefusal(model: ModelRef): Promise<void> {
    const listed = await this.limit(model);
    // Below that, the refusal is wrong.
    const minimum = Math.max(minLearnedContext, 2 * this.#prefixTokens());
    this.#learned.set(modelName(model), Math.min(listed, Math.max(minimum, Math.floor(0.9 * this.tokens))));
  }

  /** The estimated tokens of the next request. */
  get tokens(): number {
    if (this.#counted === undefined) return this.#estimated;
    const { tokens, entries } = this.#counted;
    const { cut } = this.#sizes.summary;
    const countedEntries = entries - this.#options.journal.ledger.dropped;
    return tokens + this.#factor * sum(this.#sizes.all().slice(Math.max(cut, countedEntries)));
  }

  /** The tokens of the next request without a provider's count. */
  get #estimated(): number {
    const { summary, cut } = this.#sizes.summary;
    return this.#estimate(this.#sizes.all().slice(cut), summary);
  }

  /** The estimated tokens of a request with a summary and entries of these sizes. */
  #estimate(sizes: readonly number[], summary: string): number {
    return this.#factor * (this.#prefixTokens() + estimateTokens(summary) + sum(sizes));
  }

  /** The size of a model's context window in tokens. */
  async limit(model: ModelRef = this.#options.router.current): Promise<number> {
    const learned = this.#learned.get(modelName(model)) ?? Number.POSITIVE_INFINITY;
    return Math.min(learned, this.#options.contextOf?.(model) ?? (await listedContext(model)));
  }

  /** The estimated tokens left for an answer. Undefined if that is more than any model can write. */
  async tokensLeft(model: ModelRef): Promise<number | undefined> {
    const { tokens } = this;
    if (tokens < alwaysFitsAnswer) return undefined;
    return Math.max(minAnswerTokens, Math.floor((await this.limit(model)) - tokens * estimateMargin));
  }

  /** Whether the window is so full that the conversation should be compacted. */
  async isFull(): Promise<boolean> {
    const { compactAt, journal, router, contextOf } = this.#options;
    if (compactAt === 0 || journal.ledger.pending().length > 0) return false;
    const { tokens } = this;
    if (tokens < fitsEverywhere && contextOf?.(router.current) === undefined && this.#learned.size === 0) return false;
    const { fullAt } = await this.#budget();
    return tokens * (this.#correction === undefined ? uncountedMargin : 1) >= fullAt;
  }

  /** Throws a `ContextOverflowError` if the next request does not fit even after a compaction. */
  async assertFits(): Promise<void> {
    const { compactAt, router } = this.#options;
    if (compactAt === 0) return;
    const { tokens } = this;
    const { limit, prefix } = await this.#budget();
    // Estimates are correct within a fifth; a request that may fit is sent.
    if (tokens > 1.25 * limit || prefix > limit)
      throw new ContextOverflowError({ model: modelName(router.current), limit, prefix, tokens });
  }

  /**
   * Compacts the conversation: shortens long results or, if that is not enough, replaces older entries by a summary. False
   * if nothing was gained. `request` is set if the user asked for it: then a short conversation is not summarized.
   */
  async compact(signal: AbortSignal, request?: CompactionRequest): Promise<boolean> {
    const { journal, emit, hooks } = this.#options;
    if (journal.ledger.pending().length > 0) return false;
    const trigger = request === undefined ? "auto" : "manual";
    const decided = await hooks?.beforeCompaction({ trigger, focus: request?.focus }, signal);
    if (decided?.refusal !== undefined) {
      emit({ type: "notice", text: `A hook refused the compaction: ${decided.refusal}` });
      return false;
    }
    const before = this.tokens;
    const budget = await this.#budget();
    const isShortened = this.#shorten(before, budget);
    if (!isShortened && !(await this.#summarize(before, budget, { signal, request }))) return false;
    await journal.commit();
    journal.releaseCompacted();
    this.#counted = undefined;
    const after = Math.ceil(this.tokens);
    const compaction: CompactionInfo = { by: isShortened ? "shortening" : "summary", before, after };
    emit({ type: "compacted", compaction });
    await hooks?.afterCompaction({ trigger, info: compaction }, signal);
    return true;
  }

  async #budget(): Promise<ContextBudget> {
    const limit = await this.limit();
    return computeBudget({ limit, share: this.#options.compactAt, prefix: this.#factor * this.#prefixTokens() });
  }

  /** Shortens results if that alone is enough: old ones first, then any that takes more than its share. */
  #shorten(before: number, { fullAt, limit, prefix }: ContextBudget): boolean {
    const { ledger } = this.#options.journal;
    const goal = Math.min(before / 2, (1 - newestShare) * fullAt);
    const end = ledger.entries.length;
    const old = this.#findCut(newestShare * sum(this.#sizes.all().slice(this.#sizes.summary.cut)));
    const { summary, cut } = this.#sizes.summary;
    const after = (maxLength: number, to: number): number =>
      this.#estimate([...this.#sizes.shortenedTo(maxLength, cut, to), ...this.#sizes.all().slice(to)], summary);
    if (after(maxOldResultLength, old) <= goal) {
      ledger.shorten(maxOldResultLength, old);
      return true;
    }
    // If one result is larger than everything else, only that one is shortened.
    const large = resultLimits.find((maxLength) => after(maxLength, end) <= Math.min(goal, prefix + limit / 3));
    if (large === undefined || large < minLargeResultLength) return false;
    ledger.shorten(large, end);
    return true;
  }

  async #summarize(
    before: number,
    budget: ContextBudget,
    { signal, request }: { readonly signal: AbortSignal; readonly request: CompactionRequest | undefined },
  ): Promise<boolean> {
    const { journal, emit, router } = this.#options;
    const { ledger } = journal;
    const { cut, maxLength } = this.#planSummary(before, budget);
    const opening = openingNotice(ledger.entries, cut) === undefined ? 0 : 1;
    const previous = this.#sizes.summary;
    if (cut <= Math.max(opening, previous.cut)) return this.#shortenTo(maxLength);
    const replaced = estimateTokens(previous.summary) + sum(this.#sizes.all().slice(previous.cut, cut));
    // A summary is hardly shorter than that, and would be paid for nothing.
    if (request !== undefined && before <= budget.limit && this.#factor * replaced < minReplacedTokens) return false;
    const summary = await this.#requestSummary(cut, budget, { signal, focus: request?.focus });
    const after = this.#estimate(this.#sizes.shortenedTo(maxLength, cut), summary ?? "");
    const isUsable = summary !== undefined && summary.trim() !== "" && after < this.#estimated;
    if (summary !== undefined && !isUsable)
      emit({ type: "notice", text: "The model's summary was not usable; the conversation is unchanged." });
    // A conversation that does not fit has to become shorter, with or without a summary.
    if (!isUsable && before <= budget.limit) return false;
    if (!isUsable)
      emit({
        type: "notice",
        text: `The older part of the conversation is left out of requests without a summary: ${modelName(router.current)} could not summarize it. The session log keeps it.`,
      });
    ledger.compact(isUsable ? summary : this.#extract(cut, budget), cut);
    const notice = this.#options.compactionNotice?.();
    if (notice !== undefined) ledger.notice(notice);
    this.#shortenTo(maxLength);
    return true;
  }

  #shortenTo(maxLength: number): boolean {
    const { ledger } = this.#options.journal;
    if (maxLength === Number.POSITIVE_INFINITY) return false;
    ledger.shorten(maxLength, ledger.entries.length);
    return true;
  }

  /** The position up to which entries are summarized, and the most characters of results after it so that they fit. */
  #planSummary(
    before: number,
    { prefix, conversation }: ContextBudget,
  ): { readonly cut: number; readonly maxLength: number } {
    const { entries } = this.#options.journal.ledger;
    const kept = (0.3 * Math.min(conversation, Math.max(0, before - prefix))) / this.#factor;
    // Entries no model has read yet may take more than entries that are kept for context.
    const maxUnread = (0.45 * conversation) / this.#factor;
    const cut = this.#findCut(kept);
    const fits = (length: number): boolean => sum(this.#sizes.shortenedTo(length, cut)) <= maxUnread;
    const maxLength = [Number.POSITIVE_INFINITY, ...resultLimits].find(fits);
    if (maxLength !== undefined) return { cut, maxLength };
    // Calls that are too large cannot be shortened, so they are summarized; the last message of the user never is.
    return { cut: entries.at(-1)?.type === "user" ? cut : entries.length, maxLength: Number.POSITIVE_INFINITY };
  }

  /** Requests a summary. Undefined if that failed; a notice says why. */
  async #requestSummary(
    cut: number,
    budget: ContextBudget,
    { signal, focus }: { readonly signal: AbortSignal; readonly focus: string | undefined },
  ): Promise<string | undefined> {
    const { emit, router } = this.#options;
    const model = router.current;
    const previous = this.#sizes.summary;
    const sizes = sum(this.#sizes.all().slice(previous.cut, cut));
    const whole = this.#factor * (this.#prefixTokens() + estimateTokens(previous.summary) + sizes);
    try {
      const { summarizeConversation, truncateToTokens } = await import("./summarize.ts");
      const { text, leftOut } = await summarizeConversation(
        this.#options,
        {
          model,
          cut,
          focus,
          summary: truncateToTokens(previous.summary, budget.chunk / this.#factor / 4),
          from: previous.cut,
          isWhole: whole + budget.summary <= 0.95 * budget.limit,
          chunkTokens: budget.chunk / this.#factor,
          answerTokens: {
            whole: Math.max(minAnswerTokens, Math.floor(budget.limit - whole * estimateMargin)),
            chunk: Math.max(minAnswerTokens, Math.floor(budget.limit / 5)),
          },
        },
        signal,
      );
      if (leftOut > 0)
        emit({
          type: "notice",
          text: `${leftOut} entries did not fit into the summary. The session log keeps them.`,
        });
      return truncateToTokens(text, budget.summary / this.#factor);
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError)) throw error;
      const text = `${modelName(model)} could not summarize the conversation, which is unchanged. ${error.message}`;
      emit({ type: "notice", text });
      return undefined;
    }
  }

  /** A replacement for a summary no model could write: the previous summary, and the user's messages. */
  #extract(cut: number, budget: ContextBudget): string {
    const { ledger } = this.#options.journal;
    const previous = this.#sizes.summary;
    const requests = ledger.entries.slice(previous.cut, cut).flatMap((entry) => {
      if (entry.type !== "user") return [];
      const text = entry.parts.map((part) => (part.type === "text" ? part.text : `[${part.kind}]`)).join(" ");
      return [text.replaceAll(/\s+/g, " ").slice(0, 300).toWellFormed()];
    });
    const text = missingSummaryText(cut - previous.cut, requests.slice(-10));
    const maxLength = (2 * budget.summary) / this.#factor;
    return previous.summary === ""
      ? text.slice(0, maxLength)
      : `${previous.summary.slice(0, maxLength)}\n\n${text.slice(0, maxLength)}`;
  }

  /**
   * The position that leaves about `tokens` of entries after it. It is between two exchanges; the last entries, such as a
   * prompt or results that no model has read, are always after it.
   */
  #findCut(tokens: number): number {
    const { entries } = this.#options.journal.ledger;
    const sizes = this.#sizes.all();
    let at = sizes.length;
    for (let total = 0; at > 0; at--) {
      total += sizes[at - 1] ?? 0;
      if (total > tokens) break;
    }
    return Math.min(cutAfter(entries, at), cutBefore(entries, Math.max(0, this.#lastVisible())));
  }

  /** The position of the last entry that is not a compaction. */
  #lastVisible(): number {
    return this.#options.journal.ledger.entries.findLastIndex(({ type }) => type !== "compaction");
  }

  /** The tokens of the request prefix: system prompt, tools and the opening notice. */
  #prefixTokens(): number {
    const { prefix } = this.#options.builder;
    const { cut } = this.#sizes.summary;
    const opening = openingNotice(this.#options.journal.ledger.entries, cut);
    const size = this.#prefixSizes.get(prefix) ?? prefixSize(prefix);
    this.#prefixSizes.set(prefix, size);
    return size + (opening === undefined ? 0 : estimateTokens(opening.text));
  }
}

/** A large result is shortened, instead of summarizing the conversation, only if this many characters of it stay. */
const minLargeResultLength = 8000;

const listedContext = async ({ provider, model }: ModelRef): Promise<number> => {
  const { findModelFacts } = await import("../../providers/models.ts");
  return findModelFacts(provider.id, model).context;
};

const prefixSize = ({ system = "", tools }: RequestBuilder["prefix"]): number =>
  estimateTokens(system) + estimateTokens(JSON.stringify(tools));
