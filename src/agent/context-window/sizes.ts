import { estimateMedia, estimateParts, estimateTokens } from "../../context/estimate-tokens.ts";
import type { Completion, Entry } from "../../conversation/entry.ts";
import type { Ledger } from "../../conversation/ledger.ts";
import type { Part } from "../../conversation/parts.ts";
import { lastSummaryIn } from "../../transcript/compaction-cut.ts";
import { resultLimitsIn, maxLengthAt, type ResultLimit } from "../../transcript/shorten-results.ts";

/** What frames a message, a call or a result in a request: roles, ids and names. */
const frameTokens = 12;

/** The sentence that stands for what a shortened text leaves out. */
const truncationNoteTokens = 45;

/** About how many tokens each entry of a conversation takes in a request. Each is measured once. */
export class EntrySizes {
  readonly #ledger: Ledger;
  readonly #measured = new WeakMap<Entry, EntrySize>();
  #sizes: number[] = [];
  #limits: readonly ResultLimit[] = [];
  #summary: ReturnType<typeof lastSummaryIn> = { summary: "", cut: 0 };
  #dropped = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** What stands for the beginning of a conversation that was compacted before, and where it ends. */
  get summary(): ReturnType<typeof lastSummaryIn> {
    this.all();
    return this.#summary;
  }

  /** The size of every entry as it is sent: a shortened result counts as it is shown. */
  all(): readonly number[] {
    const { entries, dropped } = this.#ledger;
    const known = dropped === this.#dropped ? this.#sizes.length : 0;
    if (dropped !== this.#dropped || entries.slice(known).some(({ type }) => type === "compaction")) {
      this.#sizes = [];
      this.#dropped = dropped;
      this.#limits = resultLimitsIn(entries);
      this.#summary = lastSummaryIn(entries);
    }
    for (const entry of entries.slice(this.#sizes.length)) this.#sizes.push(this.#shown(entry, this.#sizes.length));
    return this.#sizes;
  }

  /** The size of every entry from `from` up to `to` if texts in results were shown up to `longest` characters. */
  shortenedTo(longest: number, from: number, to: number = this.#ledger.entries.length): readonly number[] {
    this.all();
    return this.#ledger.entries.slice(from, to).map((entry, index) => this.#shown(entry, from + index, longest));
  }

  #shown(entry: Entry, at: number, longest = Number.POSITIVE_INFINITY): number {
    const { tokens, texts } = this.#measured.get(entry) ?? this.#measure(entry);
    const most = texts.length === 0 ? longest : Math.min(longest, maxLengthAt(at, this.#limits));
    return texts.reduce((size, text) => size - tokensSaved(text, most), tokens);
  }

  #measure(entry: Entry): EntrySize {
    const measured = { tokens: measureEntry(entry), texts: entry.type === "completion" ? measureTexts(entry) : [] };
    this.#measured.set(entry, measured);
    return measured;
  }
}

/** The size of an entry, and of the texts in it that may be shortened. */
type EntrySize = { readonly tokens: number; readonly texts: readonly TextSize[] };

type TextSize = { readonly length: number; readonly tokens: number };

/** The sum of some sizes. */
export const sum = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

const measureEntry = (entry: Entry): number => {
  switch (entry.type) {
    case "user":
      return frameTokens + estimateParts(entry.parts);
    case "model":
      return frameTokens + sum(entry.parts.map(measurePart));
    case "completion":
      return frameTokens + estimateParts(entry.outcome.content);
    case "notice":
      return frameTokens + estimateTokens(entry.text);
    case "compaction":
    case "copy":
      return 0;
  }
};

const measurePart = (part: Part): number => {
  switch (part.type) {
    case "text":
    case "thinking":
    case "code":
      return estimateTokens(part.text);
    case "media":
      return estimateMedia(part);
    case "call": {
      const { input, tool } = part;
      const text = input.type === "malformed" ? input.text : (input.text ?? JSON.stringify(input.value));
      return 2 * frameTokens + estimateTokens(tool) + estimateTokens(text);
    }
  }
};

const measureTexts = ({ outcome }: Completion): readonly TextSize[] =>
  outcome.content.flatMap((part) => {
    if (part.type === "media") return [];
    const text = part.type === "text" ? part.text : JSON.stringify(part.value);
    return [{ length: text.length, tokens: estimateTokens(text) }];
  });

/** What is left out when a text is shown up to `longest` characters. */
const tokensSaved = ({ length, tokens }: TextSize, longest: number): number =>
  length <= longest ? 0 : Math.max(0, (tokens * (length - longest)) / length - truncationNoteTokens);
