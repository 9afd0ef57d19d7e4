/** A text after a replacement, and how often something was replaced. */
export type Replaced = { readonly text: string; readonly count: number; readonly how: "exact" | "flexible" | "regex" };

/** Replaces text exactly as quoted, everywhere it occurs. */
export const replaceExactly = (text: string, old: string, fresh: string): Replaced | undefined => {
  const parts = text.split(old);
  return parts.length === 1 ? undefined : { text: parts.join(fresh), count: parts.length - 1, how: "exact" };
};

/** Replaces lines that differ from those quoted only by the blanks around them. The new lines take over the indentation found. */
export const replaceFlexibly = (text: string, old: string, fresh: string): Replaced | undefined => {
  const lines = text.split("\n");
  const wanted = wantedLines(old);
  const starts = findLines(lines, wanted);
  if (starts.length === 0) return undefined;
  const kept: string[] = [];
  let at = 0;
  for (const start of starts) {
    kept.push(...lines.slice(at, start), ...freshLines(fresh, old, lines[start] ?? ""));
    at = start + wanted.length;
  }
  return { text: [...kept, ...lines.slice(at)].join("\n"), count: starts.length, how: "flexible" };
};

/** Where in a text the quoted lines stand, whatever blanks are around them; lines count from 1. */
export const findFlexibly = (text: string, old: string): number | undefined => {
  const [at] = findLines(text.split("\n"), wantedLines(old));
  return at === undefined ? undefined : at + 1;
};

const wantedLines = (old: string): readonly string[] => withoutLastEnd(old).split("\n").map(trimmed);

/** Comparisons after which a text is too much like what is looked for without being it. */
const mostCompared = 10_000_000;

const findLines = (lines: readonly string[], wanted: readonly string[]): readonly number[] => {
  if (wanted.every((line) => line === "")) return [];
  const bare = lines.map(trimmed);
  const starts: number[] = [];
  let compared = 0;
  for (let at = 0; at + wanted.length <= bare.length;) {
    let same = 0;
    while (same < wanted.length && bare[at + same] === wanted[same]) same += 1;
    if ((compared += same) > mostCompared) return [];
    if (same < wanted.length) at += 1;
    else {
      starts.push(at);
      at += wanted.length;
    }
  }
  return starts;
};

/** What stands in place of the lines. Where they were quoted with their end and nothing is to follow, they are gone. */
const freshLines = (fresh: string, old: string, found: string): readonly string[] =>
  fresh === "" && old.endsWith("\n") ? [] : indented(withoutLastEnd(fresh), old, found);

/** Replaces text whose words and signs are those quoted, however they are spaced. */
export const replaceByTokens = (text: string, old: string, fresh: string): Replaced | undefined => {
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
      ? indented(withoutLastEnd(fresh), old, text.slice(lineStart, from)).join("\n")
      : withoutLastEnd(fresh);
    at = to;
  }
  return { text: made + text.slice(at), count: found.length, how: "regex" };
};

type Span = { readonly from: number; readonly to: number };

/** Compares token by token, so that no expression can run away. */
const findTokens = (text: string, tokens: readonly string[]): readonly Span[] => {
  const [first = ""] = tokens;
  const spans: Span[] = [];
  let compared = 0;
  for (let from = text.indexOf(first); from !== -1; from = text.indexOf(first, from)) {
    const { end, count } = tokensAt(text, from, tokens);
    if ((compared += count) > mostCompared) return [];
    if (end === undefined) from += 1;
    else {
      spans.push({ from, to: end });
      from = end;
    }
  }
  return spans;
};

/** Where tokens that begin here end, and how many were compared. A word is not part of a longer one. */
const tokensAt = (
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

const wordSign = /[\p{L}\p{N}_$]/u;

const isWord = (token: string): boolean => wordSign.test(token);

const splitsWord = (text: string, from: number, to: number): boolean =>
  (from > 0 && wordSign.test(text[from - 1] ?? "")) || wordSign.test(text[to] ?? "");

/** New lines moved by the difference between the indentation quoted and the one found. */
const indented = (fresh: string, old: string, found: string): readonly string[] => {
  const had = indentOf(found);
  const quoted = indentOf(old.split("\n").find((line) => line.trim() !== "") ?? "");
  return fresh.split("\n").map((line) => {
    if (line.trim() === "" || had === quoted) return line;
    return line.startsWith(quoted) ? had + line.slice(quoted.length) : line;
  });
};

const indentOf = (line: string): string => /^[ \t]*/.exec(line)?.[0] ?? "";
const trimmed = (line: string): string => line.trim();
const withoutLastEnd = (text: string): string => (text.endsWith("\n") ? text.slice(0, -1) : text);
