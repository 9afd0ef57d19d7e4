/** A text after a replacement, and how often something was replaced. */
export type Replacement = {
  readonly text: string;
  readonly count: number;
  readonly strategy: "exact" | "flexible" | "regex";
};

/** Replaces text exactly as quoted, everywhere it occurs. */
export const replaceExact = (text: string, old: string, fresh: string): Replacement | undefined => {
  const parts = text.split(old);
  return parts.length === 1 ? undefined : { text: parts.join(fresh), count: parts.length - 1, strategy: "exact" };
};

/** Replaces lines that differ from those quoted only by the blanks around them. The new lines take over the indentation found. */
export const replaceIgnoringIndentation = (text: string, old: string, fresh: string): Replacement | undefined => {
  const lines = text.split("\n");
  const wanted = trimmedLines(old);
  const starts = findLines(lines, wanted);
  if (starts.length === 0) return undefined;
  const kept: string[] = [];
  let at = 0;
  for (const start of starts) {
    kept.push(...lines.slice(at, start), ...replacementLines(fresh, old, lines[start] ?? ""));
    at = start + wanted.length;
  }
  return { text: [...kept, ...lines.slice(at)].join("\n"), count: starts.length, strategy: "flexible" };
};

/** Where in a text the quoted lines stand, whatever blanks are around them; lines count from 1. */
export const findIgnoringIndentation = (text: string, old: string): number | undefined => {
  const [at] = findLines(text.split("\n"), trimmedLines(old));
  return at === undefined ? undefined : at + 1;
};

const trimmedLines = (old: string): readonly string[] => dropFinalNewline(old).split("\n").map(trimLine);

/** Comparisons after which a text is too much like what is looked for without being it. */
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

/** What stands in place of the lines. Where they were quoted with their end and nothing is to follow, they are gone. */
const replacementLines = (fresh: string, old: string, found: string): readonly string[] =>
  fresh === "" && old.endsWith("\n") ? [] : reindent(dropFinalNewline(fresh), old, found);

/** Replaces text whose words and signs are those quoted, however they are spaced. */
export const replaceByTokens = (text: string, old: string, fresh: string): Replacement | undefined => {
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
      ? reindent(dropFinalNewline(fresh), old, text.slice(lineStart, from)).join("\n")
      : dropFinalNewline(fresh);
    at = to;
  }
  return { text: made + text.slice(at), count: found.length, strategy: "regex" };
};

type TextSpan = { readonly from: number; readonly to: number };

/** Compares token by token, so that no expression can run away. */
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

/** Where tokens that begin here end, and how many were compared. A word is not part of a longer one. */
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

/** New lines moved by the difference between the indentation quoted and the one found. */
const reindent = (fresh: string, old: string, found: string): readonly string[] => {
  const had = indentOf(found);
  const quoted = indentOf(old.split("\n").find((line) => line.trim() !== "") ?? "");
  return fresh.split("\n").map((line) => {
    if (line.trim() === "" || had === quoted) return line;
    return line.startsWith(quoted) ? had + line.slice(quoted.length) : line;
  });
};

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";
const trimLine = (line: string): string => line.trim();
const dropFinalNewline = (text: string): string => (text.endsWith("\n") ? text.slice(0, -1) : text);
