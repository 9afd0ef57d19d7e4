import type { Compaction, Completion, Entry } from "../conversation/entry.ts";
import type { Content } from "../conversation/parts.ts";
import type { Decide } from "./decisions.ts";
import { cutOut } from "./words.ts";

/** The entries from `cut` on that models see, with results as short as a later compaction wants them. */
export const shortened = (
  entries: readonly Entry[],
  cut: number,
  decide: Decide,
): readonly Exclude<Entry, Compaction>[] => {
  const kept: Exclude<Entry, Compaction>[] = [];
  const limits = limitsIn(entries);
  for (const [index, entry] of entries.entries()) {
    if (index < cut || entry.type === "compaction") continue;
    kept.push(entry.type === "completion" ? shorten(entry, longestAt(index, limits), decide) : entry);
  }
  return kept;
};

/** How long texts in results may be: `longest` characters before entry `from`. */
export type ResultLimit = { readonly from: number; readonly longest: number };

/** The limits that compactions set for results. One reaches no further than to where it was recorded. */
export const limitsIn = (entries: readonly Entry[]): readonly ResultLimit[] =>
  entries.flatMap((entry, at) =>
    entry.type === "compaction" && entry.longest !== undefined
      ? [{ from: Math.min(entry.from, at), longest: entry.longest }]
      : [],
  );

/** How many characters of a text are shown in the result at a place; infinitely many where nothing limits it. */
export const longestAt = (index: number, limits: readonly ResultLimit[]): number =>
  Math.min(...limits.map(({ from, longest }) => (index < from ? longest : Number.POSITIVE_INFINITY)));

const shorten = (entry: Completion, longest: number, decide: Decide): Completion => {
  const { content } = entry.outcome;
  if (content.every((part) => lengthOf(part) <= longest)) return entry;
  decide("result-shortened", `The result of ${entry.tool} is shown in part.`, entry.call);
  const short = content.map((part): Content => {
    if (lengthOf(part) <= longest) return part;
    return { type: "text", text: bothEnds(part.type === "text" ? part.text : textOf(part), longest) };
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

/** A text with its middle left out where it is longer than `longest` characters. */
export const bothEnds = (text: string, longest: number): string => {
  if (text.length <= longest) return text;
  const half = Math.floor(longest / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(text.length - half).toWellFormed()];
  return `${head}\n${cutOut(text.length - 2 * half)}\n${tail}`;
};
