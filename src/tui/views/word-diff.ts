/** A part of a line, and whether it changed. */
type WordDiffPart = { readonly text: string; readonly isChanged: boolean };

/** Finds the word-level changes between two lines; undefined if too little is common. */
export const changedParts = (
  old: string,
  fresh: string,
): { readonly old: readonly WordDiffPart[]; readonly fresh: readonly WordDiffPart[] } | undefined => {
  const [one, other] = [wordsOf(old), wordsOf(fresh)];
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const kept = [...one.slice(0, start), ...one.slice(one.length - end)].join("").trim().length;
  if (kept * 3 < Math.max(old.trim().length, fresh.trim().length)) return undefined;
  return { old: partsOf(one, start, end), fresh: partsOf(other, start, end) };
};

const wordsOf = (text: string): readonly string[] =>
  text.match(/[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu) ?? [];

const partsOf = (words: readonly string[], start: number, end: number): readonly WordDiffPart[] =>
  [
    { text: words.slice(0, start).join(""), isChanged: false },
    { text: words.slice(start, words.length - end).join(""), isChanged: true },
    { text: words.slice(words.length - end).join(""), isChanged: false },
  ].filter(({ text }) => text !== "");
