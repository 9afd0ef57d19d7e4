/** Splits a text into deltas of one to four words, each with its leading white space. Joined they are the text. */
export const splitIntoDeltas = (text: string): string[] => {
  const pieces: string[] = [];
  let piece = "";
  let words = 0;
  for (const part of text.match(/\s+|\S{1,48}/gu) ?? []) {
    piece += part;
    if (part.trim() !== "") words += 1;
    if (words < (wordsPerDelta[pieces.length % wordsPerDelta.length] ?? 1)) continue;
    pieces.push(piece);
    piece = "";
    words = 0;
  }
  return piece === "" ? pieces : [...pieces, piece];
};

/** The number of words of successive deltas. */
const wordsPerDelta = [1, 3, 2, 4];

/**
 * Splits a text into pieces of about `size` characters, as models stream JSON. Joined they are the text; surrogate
 * pairs stay intact.
 */
export const splitBySize = (text: string, size: number): string[] => {
  const pieces: string[] = [];
  for (let start = 0; start < text.length;) {
    const isPair = (text.codePointAt(start + size - 1) ?? 0) > 0xffff;
    const end = start + size + (isPair ? 1 : 0);
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
};
