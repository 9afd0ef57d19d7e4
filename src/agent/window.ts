import { estimateMedia, estimateParts, estimateTokens } from "../context/estimate.ts";
import type { Entry, Part } from "../conversation/index.ts";
import { cutBefore, openingNotice } from "../transcript/cut.ts";
import { ProviderError } from "../transport/failure.ts";
import type { Transport } from "../transport/transport.ts";
import { Composer } from "../wire/compose.ts";
import { askAside } from "./aside.ts";
import type { Compositions } from "./compositions.ts";
import type { AgentEvent, CompactionFacts } from "./events.ts";
import type { Journal } from "./journal.ts";
import { modelName, type ModelRef } from "./model-name.ts";
import type { Route } from "./route.ts";
import type { Spending } from "./spending.ts";
import { summaryPrompt } from "./words.ts";

/** What keeping a conversation within a model's context needs. */
export type WindowOptions = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly compositions: Compositions;
  readonly route: Route;
  readonly spending: Spending;
  /** The share of the context that may be full before something is done; 0 for never. */
  readonly share: number;
  /** How many tokens a model can read, where settings know better than our own list. */
  readonly contextOf?: (model: ModelRef) => number | undefined;
  readonly tell: (event: AgentEvent) => void;
};

/** Conversations this short fit everywhere, so nobody looks up what the limit is. */
const fitsEverywhere = 6000;

/** Prompts below this leave room for the longest answer in every context for which an API demands a limit (64k in 200k). */
const nearlyEmpty = 100_000;

/** A limit that can always be asked for: where even that does not fit, the conversation has to be compacted. */
const leastAnswer = 1024;

/** How much larger a prompt may be than estimated. */
const countingError = 1.1;

/** Results longer than this are shortened once they are old; what is newer than the last fifth is not old. */
const longestOld = 2000;
const old = 0.8;

/** The share of the conversation that is kept as it is after a summary. */
const tail = 0.3;

/**
 * Keeps a conversation within the context of the model that reads it. Counts
 * come from the provider where it has counted, and are estimated from there.
 */
export class Window {
  readonly #options: WindowOptions;
  #known = { tokens: 0, entries: 0 };
  #head: number | undefined;
  #sizes: number[] = [];

  constructor(options: WindowOptions) {
    this.#options = options;
  }

  /** A provider counted so many tokens for the conversation up to an entry. */
  known(tokens: number, entries: number): void {
    this.#known = { tokens, entries };
  }

  /** About how many tokens the next request has. */
  get tokens(): number {
    const sizes = this.#measured();
    const { tokens, entries } = this.#known;
    if (entries > 0) return tokens + sum(sizes.slice(entries));
    const { summary, cut } = this.#summarised();
    return this.#headTokens() + this.#openingTokens(cut) + estimateTokens(summary) + sum(sizes.slice(cut));
  }

  /** What stands for the beginning of a conversation that was compacted before, and where it ends. */
  #summarised(): { readonly summary: string; readonly cut: number } {
    const { entries } = this.#options.journal.ledger;
    const at = entries.findLastIndex((entry) => entry.type === "compaction" && entry.summary.trim() !== "");
    const last = entries[at];
    if (last?.type !== "compaction") return { summary: "", cut: 0 };
    return { summary: last.summary, cut: cutBefore(entries.slice(0, at), Math.min(last.from, at)) };
  }

  /** How many tokens the current model can read. */
  async context(model: ModelRef = this.#options.route.current): Promise<number> {
    const described = this.#options.contextOf?.(model);
    if (described !== undefined) return described;
    const { factsOf } = await import("../providers/models.ts");
    return factsOf(model.provider.id, model.model).context;
  }

  /** About how many tokens a model's context has left for an answer; undefined where that is more than any can write. */
  async contextLeft(model: ModelRef): Promise<number | undefined> {
    const { tokens } = this;
    if (tokens < nearlyEmpty) return undefined;
    return Math.max(leastAnswer, Math.floor((await this.context(model)) - tokens * countingError));
  }

  /** Whether so much of the context is full that room should be made. */
  async isFull(): Promise<boolean> {
    const { share, journal } = this.#options;
    if (share === 0 || journal.ledger.pending().length > 0) return false;
    const { tokens } = this;
    return tokens >= fitsEverywhere && tokens >= share * (await this.context());
  }

  /** Makes room: long old results are shortened; where that is not enough, a summary stands for the older part. */
  async shrink(signal: AbortSignal): Promise<boolean> {
    const { journal, tell, share } = this.#options;
    if (journal.ledger.pending().length > 0) return false;
    const before = this.tokens;
    const goal = Math.min(before / 2, (share || 0.7) * (await this.context()) * old);
    const shortened = this.#shorten(before, goal);
    const after = shortened ?? (await this.#summarise(before, signal));
    if (after === undefined) return false;
    this.#known = { tokens: after, entries: journal.ledger.entries.length };
    await journal.save();
    const compaction: CompactionFacts = { by: shortened === undefined ? "summary" : "shortening", before, after };
    tell({ type: "compacted", compaction });
    return true;
  }

  /** What shortening old results comes to, where that alone is enough. */
  #shorten(before: number, goal: number): number | undefined {
    const { ledger } = this.#options.journal;
    const from = this.#past(1 - old);
    const gain = ledger.entries
      .slice(this.#shortenedUpTo(), from)
      .reduce((saved, entry) => saved + (entry.type === "completion" ? savedOn(entry) : 0), 0);
    if (gain === 0 || before - gain > goal) return undefined;
    ledger.shorten(longestOld, from);
    return Math.ceil(before - gain);
  }

  /** Where what was shortened before ends. */
  #shortenedUpTo(): number {
    const { entries } = this.#options.journal.ledger;
    const last = entries.findLast((entry) => entry.type === "compaction" && entry.longest !== undefined);
    return last?.type === "compaction" ? last.from : 0;
  }

  async #summarise(before: number, signal: AbortSignal): Promise<number | undefined> {
    const { journal, tell, route } = this.#options;
    const cut = this.#past(tail);
    if (cut <= (openingNotice(journal.ledger.entries, cut) === undefined ? 0 : 1)) return undefined;
    try {
      const summary = await this.#ask(cut, signal);
      const kept = sum(this.#measured().slice(cut));
      const after = this.#headTokens() + this.#openingTokens(cut) + estimateTokens(summary) + kept;
      if (summary.trim() === "" || after >= before) {
        tell({ type: "notice", text: "The model's summary was of no use; the conversation is as it was." });
        return undefined;
      }
      journal.ledger.compact(summary, cut);
      return after;
    } catch (error) {
      if (signal.aborted || !(error instanceof ProviderError)) throw error;
      const text = `${modelName(route.current)} could not summarise the conversation, which is as it was. ${error.message}`;
      tell({ type: "notice", text });
      return undefined;
    }
  }

  /** Asks for a summary of the first entries. The request begins as earlier ones did, so that most of it is cached. */
  async #ask(cut: number, signal: AbortSignal): Promise<string> {
    const { transport, route, journal, compositions, spending } = this.#options;
    const model = route.current;
    const past = journal.ledger.entries.slice(0, cut);
    const { text, usage } = await askAside(
      transport,
      model,
      (destination) => {
        const composer = new Composer({
          destination,
          system: compositions.head.system,
          tools: compositions.head.tools,
          blobs: journal.blobs,
          policy: { unsupportedMedia: "stub" },
        });
        composer.add(past);
        composer.add([{ type: "user", parts: [{ type: "text", text: summaryPrompt }] }]);
        return composer.body({ stream: true, toolChoice: "none" });
      },
      signal,
    );
    if (usage !== undefined) await spending.add(model, usage);
    return text;
  }

  /** Where the past ends: what came last, such as a question or results nobody has read, is never part of it. */
  #past(share: number): number {
    const { entries } = this.#options.journal.ledger;
    return cutBefore(entries, Math.min(this.#boundary(share), entries.length - 1));
  }

  /** The first entry of the last part of the conversation, by tokens. */
  #boundary(share: number): number {
    const sizes = this.#measured();
    const most = share * sum(sizes);
    let at = sizes.length;
    for (let held = 0; at > 0; at--) {
      held += sizes[at - 1] ?? 0;
      if (held > most) break;
    }
    return at;
  }

  /** The size of every entry, each measured once. */
  #measured(): readonly number[] {
    const { entries } = this.#options.journal.ledger;
    for (let at = this.#sizes.length; at < entries.length; at++) this.#sizes.push(sizeOf(entries[at]));
    return this.#sizes;
  }

  /** The size of the notice that stays in front of a summary. */
  #openingTokens(cut: number): number {
    const opening = openingNotice(this.#options.journal.ledger.entries, cut);
    return opening === undefined ? 0 : estimateTokens(opening.text);
  }

  #headTokens(): number {
    const { system = "", tools } = this.#options.compositions.head;
    return (this.#head ??= estimateTokens(system) + estimateTokens(JSON.stringify(tools)));
  }
}

const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

const sizeOf = (entry: Entry | undefined): number => {
  switch (entry?.type) {
    case "user":
      return estimateParts(entry.parts);
    case "model":
      return sum(entry.parts.map(sizeOfPart));
    case "completion":
      return estimateParts(entry.outcome.content);
    case "notice":
      return estimateTokens(entry.text);
    case "compaction":
    case "copy":
    case undefined:
      return 0;
  }
};

const sizeOfPart = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "thinking":
    case "code":
      return estimateTokens(part.text);
    case "media":
      return estimateMedia(part);
    case "call":
      return estimateTokens(JSON.stringify(part.input));
  }
};

/** What is left out when the texts of an old result are shortened. */
const savedOn = ({ outcome }: Extract<Entry, { type: "completion" }>): number =>
  sum(
    outcome.content.map((part) => {
      if (part.type === "media") return 0;
      const text = part.type === "text" ? part.text : JSON.stringify(part.value);
      return text.length <= longestOld ? 0 : (estimateTokens(text) * (text.length - longestOld)) / text.length;
    }),
  );
