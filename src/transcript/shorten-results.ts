import type { Compaction, Completion, Entry } from "../conversation/entry.ts";
import type { Content } from "../conversation/parts.ts";
import type { AddNote } from "./decision-log.ts";
import { omissionText } from "./words.ts";

/** An entry that models see, and its index in the conversation. */
export type VisibleEntry = { readonly index: number; readonly entry: Exclude<Entry, Compaction> };

/** Returns the entries from `cut` on that models see, with tool results truncated as later compactions say. */
export const shortenResults = (entries: readonly Entry[], cut: number, addNote: AddNote): readonly VisibleEntry[] => {
  const kept: VisibleEntry[] = [];
  const limits = resultLimitsIn(entries);
  for (const [index, entry] of entries.entries()) {
    if (index < cut || entry.type === "compaction") continue;
    const isResult = entry.type === "completion";
    kept.push({ index, entry: isResult ? shortenResult(entry, maxLengthAt(index, limits), addNote) : entry });
  }
  return kept;
};

/** Limit for texts in tool results: `longest` characters before entry `from`. */
export type ResultLimit = { readonly from: number; readonly longest: number };

/** Returns the limits that compactions set for tool results. A limit applies only to entries recorded before it. */
export const resultLimitsIn = (entries: readonly Entry[]): readonly ResultLimit[] =>
  entries.flatMap((entry, at) =>
    entry.type === "compaction" && entry.longest !== undefined
      ? [{ from: Math.min(entry.from, at), longest: entry.longest }]
      : [],
  );

/** Returns the maximum length of texts in the result at an index; infinite without a limit. */
export const maxLengthAt = (index: number, limits: readonly ResultLimit[]): number =>
  Math.min(...limits.map(({ from, longest }) => (index < from ? longest : Number.POSITIVE_INFINITY)));

const shortenResult = (entry: Completion, longest: number, addNote: AddNote): Completion => {
  const { content } = entry.outcome;
  if (content.every((part) => lengthOf(part) <= longest)) return entry;
  addNote("result-shortened", `The result of ${entry.tool} is truncated.`, entry.call);
  const short = content.map((part): Content => {
    if (lengthOf(part) <= longest) return part;
    return { type: "text", text: truncateMiddle(part.type === "text" ? part.text : textOf(part), longest) };
  });
  return { ...entry, outcome: { ...entry.outcome, content: short } };
};

const lengthOf = (part: Content): number => {
  switch (part.type) {
    case "text":
      return part.text.length;
    case "structured":
      return textOf(part).length;
    case "media":
      return 0;
  }
};

const textOf = (part: Exclude<Content, { type: "text" }>): string =>
  part.type === "structured" ? JSON.stringify(part.value) : "";

/** Truncates a text in its middle to `longest` characters. */
export const truncateMiddle = (text: string, longest: number): string => {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(text.length - half).toWellFormed()];
  return `${head}\n${omissionText(text.length - 2 * half)}\n${tail}`;
};
