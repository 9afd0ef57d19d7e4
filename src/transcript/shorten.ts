import type { Compaction, Completion, Content, Entry } from "../conversation/index.ts";
import type { Decide } from "./decisions.ts";
import { cutOut } from "./words.ts";

/** The entries from `cut` on that models see, with results as short as a later compaction wants them. */
export const shortened = (
  entries: readonly Entry[],
  cut: number,
  decide: Decide,
): readonly Exclude<Entry, Compaction>[] => {
  const kept: Exclude<Entry, Compaction>[] = [];
  const limits: Compaction[] = [];
  for (let index = entries.length - 1; index >= cut; index--) {
    const entry = entries[index];
    if (entry === undefined) continue;
    if (entry.type === "compaction") limits.push(entry);
    else kept.push(entry.type === "completion" ? shorten(entry, longestAt(index, limits), decide) : entry);
  }
  return kept.toReversed();
};

const longestAt = (index: number, limits: readonly Compaction[]): number =>
  Math.min(
    ...limits.map(({ from, longest }) => (index < from && longest !== undefined ? longest : Number.POSITIVE_INFINITY)),
  );

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

const bothEnds = (text: string, longest: number): string => {
  const half = Math.floor(longest / 2);
  const [head, tail] = [text.slice(0, half).toWellFormed(), text.slice(text.length - half).toWellFormed()];
  return `${head}\n${cutOut(text.length - 2 * half)}\n${tail}`;
};
