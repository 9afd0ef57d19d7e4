import type { NamePattern } from "../capabilities.ts";
import { expandBraces } from "./expand-braces.ts";
import { ToolFailure } from "../tool.ts";

/**
 * Creates a matcher for relative paths: `*`, `?`, `[abc]` within a name, `**` for any folders, `{a,b}` for
 * alternatives. Names that begin with a dot are not special. Matching time is bounded for every pattern and path.
 */
export const createGlobMatcher = (
  pattern: string,
  { caseSensitive = true }: { readonly caseSensitive?: boolean } = {},
): ((path: string) => boolean) => {
  const fold = (text: string): string => (caseSensitive ? text : text.toLowerCase());
  const wanted = expandBraces(fold(checkPattern(pattern))).map((each) => createPathMatcher(parseSegments(each)));
  return (path) => {
    const folded = fold(path);
    return wanted.some((isWanted) => isWanted(folded));
  };
};

/** Splits a pattern into the folder before the first wildcard and the rest below it. */
export const splitGlob = (pattern: string): { readonly folder: string; readonly rest: string } => {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{\\]|@\(/.test(part));
  const last = wild === -1 ? parts.length - 1 : wild;
  const folder = parts.slice(0, last).join("/");
  return { folder: folder === "" && last > 0 ? "/" : folder, rest: parts.slice(last).join("/") || "**" };
};

/** Throws if an alternative of the pattern is absolute. */
export const requireRelative = (pattern: string): string => {
  if (expandBraces(pattern).some((each) => each.startsWith("/")))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${pattern} leaves the folder it starts from.`);
  return pattern;
};

/** A pattern for the names of all matching files; empty where any name matches. */
export const namePattern = (pattern: string, caseSensitive: boolean): { readonly names?: NamePattern } => {
  const name = pattern.slice(pattern.lastIndexOf("/") + 1);
  return /^\**$/.test(name) ? {} : { names: { pattern: name, caseSensitive } };
};

/** Whether a text is a pattern rather than a path. */
export const isGlob = (text: string): boolean => /[*?[{]|@\(/.test(text);

const checkPattern = (pattern: string): string => {
  if (pattern.length > 4096 || pattern.includes("\0"))
    throw new ToolFailure("invalid_tool_params", "The pattern is not a valid glob pattern.");
  if (/^!|[!+]\(/.test(pattern))
    throw new ToolFailure(
      "invalid_tool_params",
      `${pattern}: supported are *, **, ?, [abc] and {a,b}; negation is not.`,
    );
  return pattern;
};

const anyNumber = Symbol("any number");

/** A test of one item, or a marker for any number of items. */
type GlobPart<Item> = typeof anyNumber | ((item: Item) => boolean);

const parseSegments = (pattern: string): readonly GlobPart<string>[] => {
  const names = pattern.replace(/\/$/, "/**").split("/");
  if (names.includes(".."))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${pattern} leaves the folder it starts from.`);
  return names
    .filter((name) => name !== "." && name !== "")
    .map((name) => (name === "**" ? anyNumber : createNameMatcher(name)));
};

/** Most patterns match names in any folder: then only the name is compared. */
const createPathMatcher = (parts: readonly GlobPart<string>[]): ((path: string) => boolean) => {
  const [first, second] = parts;
  return parts.length === 2 && first === anyNumber && typeof second === "function"
    ? (path) => second(path.slice(path.lastIndexOf("/") + 1))
    : (path) => matchesParts(parts, path.split("/"));
};

/** Creates a matcher for one name. A name equal to the pattern matches too, so that `[id].ts` finds itself. */
const createNameMatcher = (pattern: string): ((name: string) => boolean) => {
  if (!/[*?[\\]/.test(pattern)) return (name) => name === pattern;
  const [, start, end] = /^([^*?[\\]*)\*([^*?[\\]*)$/.exec(pattern) ?? [];
  if (start !== undefined && end !== undefined)
    return (name) => name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end);
  const signs = parseName(pattern);
  return (name) => name === pattern || matchesParts(signs, Array.from(name));
};

const parseName = (pattern: string): readonly GlobPart<string>[] => {
  const signs: GlobPart<string>[] = [];
  const letters = Array.from(pattern);
  for (let at = 0; at < letters.length; at++) {
    const letter = letters[at] ?? "";
    const set = letter === "[" ? parseSet(letters, at) : undefined;
    if (set !== undefined) {
      signs.push(set.fits);
      at = set.end;
    } else if (letter === "*") {
      if (signs.at(-1) !== anyNumber) signs.push(anyNumber);
    } else if (letter === "?") signs.push(() => true);
    else {
      const literal = letter === "\\" ? (letters[(at += 1)] ?? letter) : letter;
      signs.push((other) => other === literal);
    }
  }
  return signs;
};

/** Parses a character set in brackets; undefined where the bracket is never closed. */
const parseSet = (
  letters: readonly string[],
  at: number,
): { readonly fits: (letter: string) => boolean; readonly end: number } | undefined => {
  const isNegated = letters[at + 1] === "!" || letters[at + 1] === "^";
  const start = at + (isNegated ? 2 : 1);
  // A closing bracket in first position is a character of the set.
  const end = letters.indexOf("]", start + 1);
  if (end === -1) return undefined;
  const ranges: (readonly [string, string])[] = [];
  for (let index = start; index < end; index++) {
    const letter = letters[index] ?? "";
    const isRange = letters[index + 1] === "-" && index + 2 < end;
    ranges.push([letter, isRange ? (letters[index + 2] ?? letter) : letter]);
    if (isRange) index += 2;
  }
  return { fits: (letter) => ranges.some(([from, to]) => letter >= from && letter <= to) !== isNegated, end };
};

/**
 * Matches from the left. On a mismatch only the last "any number" takes one more item: earlier ones cannot do better,
 * so the work is at most the product of both lengths.
 */
const matchesParts = <Item>(parts: readonly GlobPart<Item>[], items: readonly Item[]): boolean => {
  let part = 0;
  let item = 0;
  let again: { part: number; item: number } | undefined;
  while (item < items.length) {
    const wanted = parts[part];
    const current = items[item] as Item;
    if (wanted === anyNumber) {
      part += 1;
      again = { part, item };
    } else if (wanted?.(current) === true) {
      part += 1;
      item += 1;
    } else if (again === undefined) return false;
    else {
      again.item += 1;
      ({ part, item } = again);
    }
  }
  while (parts[part] === anyNumber) part += 1;
  return part === parts.length;
};
