import { estimateTokens } from "../../context/estimate-tokens.ts";
import { cutAfter, cutBefore, openingNotice } from "../../transcript/compaction-cut.ts";
import { ProviderError } from "../../transport/failure.ts";
import type { Transport } from "../../transport/transport.ts";
import type { RequestBuilder } from "../requests/builder.ts";
import { computeBudget, ContextOverflowError, type ContextBudget } from "./budget.ts";
import { EntrySizes, sum } from "./sizes.ts";
import type { AgentEvent, CompactionInfo } from "../events.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import type { ModelRouter } from "../models/router.ts";
import type { SpendingTracker } from "../models/spending.ts";
import { missingSummaryText } from "../prompts.ts";

/** What keeping a conversation within a model's context needs. */
export type ContextWindowOptions = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly router: ModelRouter;
  readonly spending: SpendingTracker;
  /** The share of the context that may be full before something is done; 0 for never. */
  readonly compactAt: number;
  /** How many tokens a model can read, where settings know better than our own list. */
  readonly contextOf?: (model: ModelRef) => number | undefined;
  readonly emit: (event: AgentEvent) => void;
};

/** Conversations this short fit every model of our list, so its limit is not looked up. */
const fitsEverywhere = 6000;

/** Prompts below this leave room for the longest answer in every context for which an API demands a limit (64k in 200k). */
const alwaysFitsAnswer = 100_000;

/** A limit that can always be asked for: where even that does not fit, the conversation has to be compacted. */
const minAnswerTokens = 1024;

/** How much larger a prompt may be than estimated. */
const estimateMargin = 1.1;

/** Results longer than this are shortened once they are old: before the newest fifth of the conversation. */
const maxOldResultLength = 2000;
const newestShare = 0.2;

/** The smallest context that a refusal is believed to speak of. */
const minLearnedContext = 4000;

/** How far texts in results are shortened where they alone are too large, in characters, tried in this order. */
const resultLimits = [256_000, 128_000, 64_000, 32_000, 16_000, 8000, 4000, 2000, 1000, 500, 200];

/** A provider counts no more than so many tokens where we estimate one, or it counts something else. */
const maxCorrection = 3;

/** As long as no provider has counted, estimates may be too low by this much. */
const uncountedMargin = 1.15;

/**
 * Keeps a conversation within the context of the model that reads it. Counts
 * come from the provider where it has counted, and are estimated from there.
 */
export class ContextWindow {
  readonly #options: ContextWindowOptions;
  readonly #sizes: EntrySizes;
  /** What a provider counted, and for how many entries of the conversation; undefined after a compaction. */
  #known: { readonly tokens: number; readonly entries: number } | undefined;
  /** How many tokens a provider counts where we estimate one; never less than one, since the next text may be of another kind. */
  #correction: number | undefined;
  readonly #headSizes = new WeakMap<RequestBuilder["prefix"], number>();
  /** What models that refused a request as too long can read at most. */
  readonly #learned = new Map<string, number>();

  constructor(options: ContextWindowOptions) {
    this.#options = options;
    this.#sizes = new EntrySizes(options.journal.ledger);
  }

  /** Takes over what a provider counted for the conversation up to an entry. */
  recordUsage(tokens: number, entries: number): void {
    const { journal, router: route } = this.#options;
    const { dropped } = journal.ledger;
    const name = modelName(route.current);
    if (tokens > (this.#learned.get(name) ?? Number.POSITIVE_INFINITY)) this.#learned.delete(name);
    this.#known = { tokens, entries: entries + dropped };
    const { summary, cut } = this.#sizes.summary;
    const estimated = this.#headTokens() + estimateTokens(summary) + sum(this.#sizes.all().slice(cut, entries));
    // A short request is mostly what frames it, which says nothing of its texts.
    if (estimated > 1000) this.#correction = Math.min(maxCorrection, Math.max(1, tokens / estimated));
  }

  get #factor(): number {
    return this.#correction ?? 1;
  }

  /** Takes over that a model refused the request as too long: it reads less than its list entry says, or counts more than we do. */
  async recordRefusal(model: ModelRef): Promise<void> {
    const listed = await this.limit(model);
    // Below that, it is the refusal that is wrong.
    const least = Math.max(minLearnedContext, 2 * this.#headTokens());
    this.#learned.set(modelName(model), Math.min(listed, Math.max(least, Math.floor(0.9 * this.tokens))));
  }

  /** About how many tokens the next request has. */
  get tokens(): number {
    if (this.#known === undefined) return this.#estimated;
    const { tokens, entries } = this.#known;
    const { cut } = this.#sizes.summary;
    const counted = entries - this.#options.journal.ledger.dropped;
    return tokens + this.#factor * sum(this.#sizes.all().slice(Math.max(cut, counted)));
  }

  /** An estimate of the next request that relies on no count. */
  get #estimated(): number {
    const { summary, cut } = this.#sizes.summary;
    return this.#weigh(this.#sizes.all().slice(cut), summary);
  }

  /** About how many tokens a request has with a summary and entries of these sizes. */
  #weigh(sizes: readonly number[], summary: string): number {
    return this.#factor * (this.#headTokens() + estimateTokens(summary) + sum(sizes));
  }

  /** How many tokens the current model can read. */
  async limit(model: ModelRef = this.#options.router.current): Promise<number> {
    const learned = this.#learned.get(modelName(model)) ?? Number.POSITIVE_INFINITY;
    return Math.min(learned, this.#options.contextOf?.(model) ?? (await listedContext(model)));
  }

  /** About how many tokens a model's context has left for an answer; undefined where that is more than any can write. */
  async tokensLeft(model: ModelRef): Promise<number | undefined> {
    const { tokens } = this;
    if (tokens < alwaysFitsAnswer) return undefined;
    return Math.max(minAnswerTokens, Math.floor((await this.limit(model)) - tokens * estimateMargin));
  }

  /** Whether so much of the context is full that room should be made. */
  async isFull(): Promise<boolean> {
    const { compactAt: share, journal, router: route, contextOf } = this.#options;
    if (share === 0 || journal.ledger.pending().length > 0) return false;
    const { tokens } = this;
    if (tokens < fitsEverywhere && contextOf?.(route.current) === undefined && this.#learned.size === 0) return false;
    const { fullAt } = await this.#budget();
    return tokens * (this.#correction === undefined ? uncountedMargin : 1) >= fullAt;
  }

  /** Throws a `ContextError` where the next request is larger than the model can read and nothing more can be done about it. */
  async assertFits(): Promise<void> {
    const { compactAt: share, router: route } = this.#options;
    if (share === 0) return;
    const { tokens } = this;
    const { limit, prefix: head } = await this.#budget();
    // Estimates are within a fifth; a request that may fit is sent.
    if (tokens > 1.25 * limit || head > limit)
      throw new ContextOverflowError({ model: modelName(route.current), limit, head, tokens });
  }

  /** Makes room: long results are shortened; where that is not enough, a summary stands for the older part. */
  async compact(signal: AbortSignal): Promise<boolean> {
    const { journal, emit: tell } = this.#options;
    if (journal.ledger.pending().length > 0) return false;
    const before = this.tokens;
    const budget = await this.#budget();
    const isShortened = this.#shorten(before, budget);
    if (!isShortened && !(await this.#summarise(before, budget, signal))) return false;
    await journal.commit();
    journal.releaseCompacted();
    this.#known = undefined;
    const after = Math.ceil(this.tokens);
    const compaction: CompactionInfo = { by: isShortened ? "shortening" : "summary", before, after };
    tell({ type: "compacted", compaction });
    return true;
  }

  async #budget(): Promise<ContextBudget> {
    const limit = await this.limit();
    return computeBudget({ limit, share: this.#options.compactAt, prefix: this.#factor * this.#headTokens() });
  }

  /** Shortens results, where that alone is enough: old ones first, then any that takes more than its share. */
  #shorten(before: number, { fullAt, limit, prefix: head }: ContextBudget): boolean {
    const { ledger } = this.#options.journal;
    const goal = Math.min(before / 2, (1 - newestShare) * fullAt);
    const most = ledger.entries.length;
    const old = this.#past(newestShare * sum(this.#sizes.all().slice(this.#sizes.summary.cut)));
    const { summary, cut } = this.#sizes.summary;
    const after = (longest: number, to: number): number =>
      this.#weigh([...this.#sizes.shortenedTo(longest, cut, to), ...this.#sizes.all().slice(to)], summary);
    if (after(maxOldResultLength, old) <= goal) {
      ledger.shorten(maxOldResultLength, old);
      return true;
    }
    // One result that is larger than all else: the rest of the conversation need not suffer for it.
    const large = resultLimits.find((longest) => after(longest, most) <= Math.min(goal, head + limit / 3));
    if (large === undefined || large < minLargeResultLength) return false;
    ledger.shorten(large, most);
    return true;
  }

  async #summarise(before: number, budget: ContextBudget, signal: AbortSignal): Promise<boolean> {
    const { journal, emit: tell, router: route } = this.#options;
    const { ledger } = journal;
    const { cut, longest } = this.#plan(before, budget);
    const opening = openingNotice(ledger.entries, cut) === undefined ? 0 : 1;
    const past = this.#sizes.summary;
    if (cut <= Math.max(opening, past.cut)) return this.#shortenTo(longest);
    const summary = await this.#ask(cut, budget, signal);
    const after = this.#weigh(this.#sizes.shortenedTo(longest, cut), summary ?? "");
    const isOfUse = summary !== undefined && summary.trim() !== "" && after < this.#estimated;
    if (summary !== undefined && !isOfUse)
      tell({ type: "notice", text: "The model's summary was of no use; the conversation is as it was." });
    // What no model can read has to become shorter, with or without a summary.
    if (!isOfUse && before <= budget.limit) return false;
    if (!isOfUse)
      tell({
        type: "notice",
        text: `The older part of the conversation is left out of requests without a summary: ${modelName(route.current)} could not read it. The session log keeps it.`,
      });
    ledger.compact(isOfUse ? summary : this.#extract(cut, budget), cut);
    this.#shortenTo(longest);
    return true;
  }

  #shortenTo(longest: number): boolean {
    const { ledger } = this.#options.journal;
    if (longest === Number.POSITIVE_INFINITY) return false;
    ledger.shorten(longest, ledger.entries.length);
    return true;
  }

  /** Where the past ends, and how long results after it may be so that they fit. */
  #plan(
    before: number,
    { prefix: head, conversation: span }: ContextBudget,
  ): { readonly cut: number; readonly longest: number } {
    const { entries } = this.#options.journal.ledger;
    const most = (0.3 * Math.min(span, Math.max(0, before - head))) / this.#factor;
    // What is new may take more than what is kept for the sake of it.
    const mostNew = (0.45 * span) / this.#factor;
    const cut = this.#past(most);
    const fits = (from: number, longest: number): boolean => sum(this.#sizes.shortenedTo(longest, from)) <= mostNew;
    const longest = [Number.POSITIVE_INFINITY, ...resultLimits].find((each) => fits(cut, each));
    if (longest !== undefined) return { cut, longest };
    // Calls that are too large themselves cannot be shortened; only what the person said last is never summarised.
    return { cut: entries.at(-1)?.type === "user" ? cut : entries.length, longest: Number.POSITIVE_INFINITY };
  }

  /** Asks for a summary; undefined where none could be had, after saying why. */
  async #ask(cut: number, budget: ContextBudget, signal: AbortSignal): Promise<string | undefined> {
    const { emit: tell, router: route } = this.#options;
    const model = route.current;
    const past = this.#sizes.summary;
    const sizes = sum(this.#sizes.all().slice(past.cut, cut));
    const whole = this.#factor * (this.#headTokens() + estimateTokens(past.summary) + sizes);
    try {
      const { summarizeConversation, truncateToTokens } = await import("./summarize.ts");
      const { text, leftOut } = await summarizeConversation(
        this.#options,
        {
          model,
          cut,
          summary: truncateToTokens(past.summary, budget.chunk / this.#factor / 4),
          from: past.cut,
          isWhole: whole + budget.summary <= 0.95 * budget.limit,
          chunkTokens: budget.chunk / this.#factor,
          answerTokens: {
            whole: Math.max(minAnswerTokens, Math.floor(budget.limit - whole * estimateMargin)),
            piece: Math.max(minAnswerTokens, Math.floor(budget.limit / 5)),
          },
        },
        signal,
      );
      if (leftOut > 0)
        tell({ type: "notice", text: `${leftOut} entries were too many to summarise. The session log keeps them.` });
      return truncateToTokens(text, budget.summary / this.#factor);
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError)) throw error;
      const text = `${modelName(model)} could not summarise the conversation, which is as it was. ${error.message}`;
      tell({ type: "notice", text });
      return undefined;
    }
  }

  /** What stands for the past without a model's help: the summary so far, and what the person said. */
  #extract(cut: number, budget: ContextBudget): string {
    const { ledger } = this.#options.journal;
    const past = this.#sizes.summary;
    const requests = ledger.entries.slice(past.cut, cut).flatMap((entry) => {
      if (entry.type !== "user") return [];
      const words = entry.parts.map((part) => (part.type === "text" ? part.text : `[${part.kind}]`)).join(" ");
      return [words.replaceAll(/\s+/g, " ").slice(0, 300).toWellFormed()];
    });
    const text = missingSummaryText(cut - past.cut, requests.slice(-10));
    const most = (2 * budget.summary) / this.#factor;
    return past.summary === "" ? text.slice(0, most) : `${past.summary.slice(0, most)}\n\n${text.slice(0, most)}`;
  }

  /**
   * Where the past ends if what follows it is to have so many tokens. It ends between two exchanges; what came last, such
   * as a question or results that no model has read, is never part of it.
   */
  #past(most: number): number {
    const { entries } = this.#options.journal.ledger;
    const sizes = this.#sizes.all();
    let at = sizes.length;
    for (let held = 0; at > 0; at--) {
      held += sizes[at - 1] ?? 0;
      if (held > most) break;
    }
    return Math.min(cutAfter(entries, at), cutBefore(entries, Math.max(0, this.#lastSaid())));
  }

  /** The place of the last entry that says something. */
  #lastSaid(): number {
    return this.#options.journal.ledger.entries.findLastIndex(({ type }) => type !== "compaction");
  }

  /** What stands in front of the conversation in every request: system prompt, tools and the opening notice. */
  #headTokens(): number {
    const { prefix: head } = this.#options.builder;
    const { cut } = this.#sizes.summary;
    const opening = openingNotice(this.#options.journal.ledger.entries, cut);
    const size = this.#headSizes.get(head) ?? prefixSize(head);
    this.#headSizes.set(head, size);
    return size + (opening === undefined ? 0 : estimateTokens(opening.text));
  }
}

/** A result is shortened without a summary of the rest only if this much of it stays. */
const minLargeResultLength = 8000;

const listedContext = async ({ provider, model }: ModelRef): Promise<number> => {
  const { findModelFacts } = await import("../../providers/models.ts");
  return findModelFacts(provider.id, model).context;
};

const prefixSize = ({ system = "", tools }: RequestBuilder["prefix"]): number =>
  estimateTokens(system) + estimateTokens(JSON.stringify(tools));
