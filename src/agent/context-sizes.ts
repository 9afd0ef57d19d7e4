import { estimateMedia, estimateParts, estimateTokens } from "../context/estimate.ts";
import type { Completion, Entry } from "../conversation/entry.ts";
import type { Ledger } from "../conversation/ledger.ts";
import type { Part } from "../conversation/parts.ts";
import { summaryIn } from "../transcript/cut.ts";
import { limitsIn, longestAt, type ResultLimit } from "../transcript/shorten.ts";

/** What frames a message, a call or a result in a request: roles, ids and names. */
const frameTokens = 12;

/** The sentence that stands for what a shortened text leaves out. */
const cutTokens = 45;

/** About how many tokens each entry of a conversation takes in a request. Each is measured once. */
export class ContextSizes {
  readonly #ledger: Ledger;
  readonly #measured = new WeakMap<Entry, Measure>();
  #sizes: number[] = [];
  #limits: readonly ResultLimit[] = [];
  #summary: ReturnType<typeof summaryIn> = { summary: "", cut: 0 };
  #dropped = 0;

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
  }

  /** What stands for the beginning of a conversation that was compacted before, and where it ends. */
  get summary(): ReturnType<typeof summaryIn> {
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
      this.#limits = limitsIn(entries);
      this.#summary = summaryIn(entries);
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
    const most = texts.length === 0 ? longest : Math.min(longest, longestAt(at, this.#limits));
    return texts.reduce((size, text) => size - savedOn(text, most), tokens);
  }

  #measure(entry: Entry): Measure {
    const measured = { tokens: wholeSize(entry), texts: entry.type === "completion" ? textsIn(entry) : [] };
    this.#measured.set(entry, measured);
    return measured;
  }
}

/** The size of an entry, and of the texts in it that may be shortened. */
type Measure = { readonly tokens: number; readonly texts: readonly TextSize[] };

type TextSize = { readonly length: number; readonly tokens: number };

/** The sum of some sizes. */
export const sumOf = (sizes: readonly number[]): number => sizes.reduce((all, size) => all + size, 0);

const wholeSize = (entry: Entry): number => {
  switch (entry.type) {
    case "user":
      return frameTokens + estimateParts(entry.parts);
    case "model":
      return frameTokens + sumOf(entry.parts.map(partSize));
    case "completion":
      return frameTokens + estimateParts(entry.outcome.content);
    case "notice":
      return frameTokens + estimateTokens(entry.text);
    case "compaction":
    case "copy":
      return 0;
  }
};

const partSize = (part: Part): number => {
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

const textsIn = ({ outcome }: Completion): readonly TextSize[] =>
  outcome.content.flatMap((part) => {
    if (part.type === "media") return [];
    const text = part.type === "text" ? part.text : JSON.stringify(part.value);
    return [{ length: text.length, tokens: estimateTokens(text) }];
  });

/** What is left out when a text is shown up to `longest` characters. */
const savedOn = ({ length, tokens }: TextSize, longest: number): number =>
  length <= longest ? 0 : Math.max(0, (tokens * (length - longest)) / length - cutTokens);
