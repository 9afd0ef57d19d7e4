import type { ReadingPart, ReadingRow } from "./reading-rows.ts";

/** A row that contains the words, with the text around the first place. */
export type SearchHit = {
  readonly entry: number;
  readonly before: string;
  readonly match: string;
  readonly after: string;
};

/** The most hits that are returned. */
const maxHits = 500;
const contextLength = 60;
/** Short, so that the match is in sight on a phone. */
const leadLength = 16;

/** Finds the rows that contain a text, ignoring case. */
export const searchRows = (rows: readonly ReadingRow[], words: string): readonly SearchHit[] => {
  const wanted = words.toLowerCase();
  if (wanted === "") return [];
  const hits: SearchHit[] = [];
  for (const row of rows) {
    const hit = row.parts
      .flatMap(textsOf)
      .map((text) => findIn(text, wanted))
      .find((found) => found !== undefined);
    if (hit !== undefined) hits.push({ entry: row.entry, ...hit });
    if (hits.length === maxHits) break;
  }
  return hits;
};

const findIn = (text: string, wanted: string): Omit<SearchHit, "entry"> | undefined => {
  const at = text.toLowerCase().indexOf(wanted);
  if (at === -1) return undefined;
  const end = at + wanted.length;
  return {
    before: excerptBefore(text, at).toWellFormed(),
    match: text.slice(at, end).toWellFormed(),
    after: excerptAfter(text, end).toWellFormed(),
  };
};

/** The words before a place; an ellipsis stands for what is cut off. */
const excerptBefore = (text: string, at: number): string =>
  at <= leadLength ? text.slice(0, at) : `… ${text.slice(at - leadLength, at).replace(/^\S*\s+/, "")}`;

/** The words after a place; an ellipsis stands for what is cut off. */
const excerptAfter = (text: string, end: number): string =>
  text.length <= end + contextLength
    ? text.slice(end)
    : `${text.slice(end, end + contextLength).replace(/\s+\S*$/, "")} …`;

const textsOf = (part: ReadingPart): readonly string[] => {
  switch (part.type) {
    case "text":
    case "plain":
    case "thinking":
    case "code":
      return [part.text];
    case "media":
      return [part.name ?? "", part.id];
    case "call":
      return [part.tool, part.input, ...(part.result === undefined ? [] : textsOf(part.result))];
    case "result":
      return [part.tool, ...part.content.flatMap(textsOf)];
  }
};
