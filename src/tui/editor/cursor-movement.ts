import { graphemesOf, graphemeStart } from "../text/width.ts";

/** Offset of the grapheme left of the cursor. */
export const leftOf = (text: string, at: number): number => (at <= 0 ? 0 : graphemeStart(text, at - 1));

/** Offset after the grapheme right of the cursor. */
export const rightOf = (text: string, at: number): number => {
  // No grapheme is longer than this, and segmenting takes time proportional to the length.
  const [grapheme = ""] = graphemesOf(text.slice(at, at + 128));
  return at + grapheme.length;
};

/** Start of the word on the left. */
export const wordLeft = (text: string, at: number): number => {
  const before = text.slice(0, at);
  return before.length - (/(?:[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]+)?\s*$/u.exec(before)?.[0].length ?? 0);
};

/** End of the word on the right. */
export const wordRight = (text: string, at: number): number =>
  at + (/^\s*(?:[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_\s]+)?/u.exec(text.slice(at))?.[0].length ?? 0);

/** Start of the whitespace-delimited word on the left. */
export const spaceLeft = (text: string, at: number): number =>
  at - (/\S*\s*$/.exec(text.slice(0, at))?.[0].length ?? 0);

/** Start of the line. */
export const lineStart = (text: string, at: number): number => text.lastIndexOf("\n", at - 1) + 1;

/** End of the line. */
export const lineEnd = (text: string, at: number): number => {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end;
};
