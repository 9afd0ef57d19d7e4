/** A text after a replacement, and the number of replacements. */
export type Replacement = {
  readonly text: string;
  readonly count: number;
  readonly strategy: "exact" | "flexible" | "regex";
};

/** Replaces every exact occurrence. */
export const replaceExact = (text: string, old: string, newText: string): Replacement | undefined => {
  const parts = text.split(old);
  return parts.length === 1 ? undefined : { text: parts.join(newText), count: parts.length - 1, strategy: "exact" };
};

/**
 * Replaces lines that differ from the quoted ones only in leading and trailing whitespace. The new lines take over the
 * indentation found.
 */
export const replaceIgnoringIndentation = (text: string, old: string, newText: string): Replacement | undefined => {
  const lines = text.split("\n");
  const wanted = trimmedLines(old);
  const starts = findLines(lines, wanted);
  if (starts.length === 0) return undefined;
  const kept: string[] = [];
  let at = 0;
  for (const start of starts) {
    kept.push(...lines.slice(at, start), ...replacementLines(newText, old, lines[start] ?? ""));
    at = start + wanted.length;
  }
  return { text: [...kept, ...lines.slice(at)].join("\n"), count: starts.length, strategy: "flexible" };
};

/** The line number, from 1, of the quoted lines regardless of leading and trailing whitespace. */
export const findIgnoringIndentation = (text: string, old: string): number | undefined => {
  const [at] = findLines(text.split("\n"), trimmedLines(old));
  return at === undefined ? undefined : at + 1;
};

const trimmedLines = (old: string): readonly string[] => dropFinalNewline(old).split("\n").map(trimLine);

/** Comparisons after which the search gives up: the text is too repetitive. */
const maxComparisons = 10_000_000;

const findLines = (lines: readonly string[], wanted: readonly string[]): readonly number[] => {
  if (wanted.every((line) => line === "")) return [];
  const bare = lines.map(trimLine);
  const starts: number[] = [];
  let compared = 0;
  for (let at = 0; at + wanted.length <= bare.length;) {
    let same = 0;
    while (same < wanted.length && bare[at + same] === wanted[same]) same += 1;
    if ((compared += same) > maxComparisons) return [];
    if (same < wanted.length) at += 1;
    else {
      starts.push(at);
      at += wanted.length;
    }
  }
  return starts;
};

/** The replacement lines. Lines quoted with their line ending and replaced by nothing are removed. */
const replacementLines = (newText: string, old: string, found: string): readonly string[] =>
  newText === "" && old.endsWith("\n") ? [] : reindent(dropFinalNewline(newText), old, found);

/** Replaces text with the same tokens, whatever the whitespace between them. */
export const replaceByTokens = (text: string, old: string, newText: string): Replacement | undefined => {
  const tokens = old.match(/[\p{L}\p{N}_$]+|[^\s\p{L}\p{N}_$]/gu) ?? [];
  if (tokens.length === 0) return undefined;
  const found = findTokens(text, tokens);
  if (found.length === 0) return undefined;
  let made = "";
  let at = 0;
  for (const { from, to } of found) {
    const lineStart = text.lastIndexOf("\n", from - 1) + 1;
    const isOnLineStart = lineStart >= at && text.slice(lineStart, from).trim() === "";
    made += text.slice(at, isOnLineStart ? lineStart : from);
    made += isOnLineStart
      ? reindent(dropFinalNewline(newText), old, text.slice(lineStart, from)).join("\n")
      : dropFinalNewline(newText);
    at = to;
  }
  return { text: made + text.slice(at), count: found.length, strategy: "regex" };
};

type TextSpan = { readonly from: number; readonly to: number };

/** Compares token by token, since a regular expression could backtrack exponentially. */
const findTokens = (text: string, tokens: readonly string[]): readonly TextSpan[] => {
  const [first = ""] = tokens;
  const spans: TextSpan[] = [];
  let compared = 0;
  for (let from = text.indexOf(first); from !== -1; from = text.indexOf(first, from)) {
    const { end, count } = matchTokensAt(text, from, tokens);
    if ((compared += count) > maxComparisons) return [];
    if (end === undefined) from += 1;
    else {
      spans.push({ from, to: end });
      from = end;
    }
  }
  return spans;
};

/**
 * The end of a match that begins here, and the number of tokens compared. A word does not match part of a longer one.
 */
const matchTokensAt = (
  text: string,
  from: number,
  tokens: readonly string[],
): { readonly end: number | undefined; readonly count: number } => {
  let at = from;
  for (const [count, token] of tokens.entries()) {
    if (count > 0) at = skipBlanks(text, at);
    const isFit = text.startsWith(token, at) && !(isWord(token) && splitsWord(text, at, at + token.length));
    if (!isFit) return { end: undefined, count: count + 1 };
    at += token.length;
  }
  return { end: at, count: tokens.length };
};

const skipBlanks = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && /\s/.test(text[at] ?? "")) at += 1;
  return at;
};

const wordCharacter = /[\p{L}\p{N}_$]/u;

const isWord = (token: string): boolean => wordCharacter.test(token);

const splitsWord = (text: string, from: number, to: number): boolean =>
  (from > 0 && wordCharacter.test(text[from - 1] ?? "")) || wordCharacter.test(text[to] ?? "");

/** Shifts new lines by the difference between the quoted and the found indentation. */
const reindent = (newText: string, old: string, found: string): readonly string[] => {
  const had = indentOf(found);
  const quoted = indentOf(old.split("\n").find((line) => line.trim() !== "") ?? "");
  return newText.split("\n").map((line) => {
    if (line.trim() === "" || had === quoted) return line;
    return line.startsWith(quoted) ? had + line.slice(quoted.length) : line;
  });
};

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";
const trimLine = (line: string): string => line.trim();
const dropFinalNewline = (text: string): string => (text.endsWith("\n") ? text.slice(0, -1) : text);
