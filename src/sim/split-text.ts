/** A text as a model streams it: in pieces of one to four words, each with the blanks before it. Joined they are the text. */
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

/** How many words the next piece has. */
const wordsPerDelta = [1, 3, 2, 4];

/** A text in pieces of about `size` characters, as models stream JSON. Joined they are the text; surrogate pairs stay whole. */
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
