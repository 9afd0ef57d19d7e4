import { estimateMedia, estimateParts, estimateTokens } from "../../context/estimate-tokens.ts";
import type { Completion, Entry } from "../../conversation/entry.ts";
import type { Ledger } from "../../conversation/ledger.ts";
import type { Part } from "../../conversation/parts.ts";
import { lastSummaryIn } from "../../transcript/compaction-cut.ts";
import { resultLimitsIn, maxLengthAt, type ResultLimit } from "../../transcript/shorten-results.ts";

/** Tokens around a message, a call or a result in a request: roles, ids and names. */
const frameTokens = 12;

/** Tokens of the sentence that replaces the middle of a shortened text. */
const truncationNoteTokens = 45;

/** Estimates the tokens of each entry of a conversation in a request. Each entry is measured once. */
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

  /** The summary of the last compaction, and the position where it ends. */
  get summary(): ReturnType<typeof lastSummaryIn> {
    this.all();
    return this.#summary;
  }

  /** The size of every entry as it is sent, after shortening. */
  all(): readonly number[] {
    const { entries, dropped } = this.#ledger;
    const known = dropped === this.#dropped ? this.#sizes.length : 0;
    if (dropped !== this.#dropped || entries.slice(known).some(({ type }) => type === "compaction")) {
      this.#sizes = [];
      this.#dropped = dropped;
      this.#limits = resultLimitsIn(entries);
      this.#summary = lastSummaryIn(entries);
    }
    for (const entry of entries.slice(this.#sizes.length)) this.#sizes.push(this.#sizeOf(entry, this.#sizes.length));
    return this.#sizes;
  }

  /** The size of the entries from `from` to `to` if texts in results were shortened to `maxLength` characters. */
  shortenedTo(maxLength: number, from: number, to: number = this.#ledger.entries.length): readonly number[] {
    this.all();
    return this.#ledger.entries.slice(from, to).map((entry, index) => this.#sizeOf(entry, from + index, maxLength));
  }

  #sizeOf(entry: Entry, at: number, maxLength = Number.POSITIVE_INFINITY): number {
    const { tokens, texts } = this.#measured.get(entry) ?? this.#measure(entry);
    const shortenTo = texts.length === 0 ? maxLength : Math.min(maxLength, maxLengthAt(at, this.#limits));
    return texts.reduce((size, text) => size - tokensSaved(text, shortenTo), tokens);
  }

  #measure(entry: Entry): EntrySize {
    const measured =
      entry.type === "completion" ? measureCompletion(entry) : { tokens: measureEntry(entry), texts: [] };
    this.#measured.set(entry, measured);
    return measured;
  }
}

/** The size of an entry, and of the texts in it that may be shortened. */
type EntrySize = { readonly tokens: number; readonly texts: readonly TextSize[] };

type TextSize = { readonly length: number; readonly tokens: number };

export const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0);

const measureEntry = (entry: Exclude<Entry, Completion>): number => {
  switch (entry.type) {
    case "user":
      return frameTokens + estimateParts(entry.parts);
    case "model":
      return frameTokens + sum(entry.parts.map(measurePart));
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

/** Estimates each text once: results are most of a conversation. */
const measureCompletion = ({ outcome: { content } }: Completion): EntrySize => {
  const texts = content.flatMap((part) => {
    if (part.type === "media") return [];
    const text = part.type === "text" ? part.text : JSON.stringify(part.value);
    return [{ length: text.length, tokens: estimateTokens(text) }];
  });
  const media = content.filter((part) => part.type === "media");
  return { tokens: frameTokens + sum(texts.map(({ tokens }) => tokens)) + estimateParts(media), texts };
};

/** The tokens saved by shortening a text to `maxLength` characters. */
const tokensSaved = ({ length, tokens }: TextSize, maxLength: number): number =>
  length <= maxLength ? 0 : Math.max(0, (tokens * (length - maxLength)) / length - truncationNoteTokens);
