import type { NamePattern } from "../capabilities.ts";
import { expandBraces } from "./expand-braces.ts";
import { ToolFailure } from "../tool.ts";

/**
 * Which relative paths a glob pattern means: `*`, `?`, `[abc]` within a name, `**` for any folders, `{a,b}` for
 * a choice. Names that begin with a dot are like others. No pattern takes long, whatever the path.
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

/** The folder a pattern starts from, as far as it is spelled out, and what is left of the pattern below it. */
export const splitGlob = (pattern: string): { readonly folder: string; readonly rest: string } => {
  const parts = pattern.split("/");
  const wild = parts.findIndex((part) => /[*?[{\\]|@\(/.test(part));
  const last = wild === -1 ? parts.length - 1 : wild;
  const folder = parts.slice(0, last).join("/");
  return { folder: folder === "" && last > 0 ? "/" : folder, rest: parts.slice(last).join("/") || "**" };
};

/** A pattern none of whose choices starts somewhere else. */
export const requireRelative = (pattern: string): string => {
  if (expandBraces(pattern).some((each) => each.startsWith("/")))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${pattern} leaves the folder it starts from.`);
  return pattern;
};

/** What the names of all files fit that a pattern means; nothing where any name does. */
export const namePattern = (pattern: string, caseSensitive: boolean): { readonly names?: NamePattern } => {
  const name = pattern.slice(pattern.lastIndexOf("/") + 1);
  return /^\**$/.test(name) ? {} : { names: { pattern: name, caseSensitive } };
};

/** Whether a text is a pattern rather than a path. */
export const isGlob = (text: string): boolean => /[*?[{]|@\(/.test(text);

const checkPattern = (pattern: string): string => {
  if (pattern.length > 4096 || pattern.includes("\0"))
    throw new ToolFailure("invalid_tool_params", "The pattern is no pattern of file names.");
  if (/^!|[!+]\(/.test(pattern))
    throw new ToolFailure("invalid_tool_params", `${pattern}: patterns know *, **, ?, [abc] and {a,b}, and no "not".`);
  return pattern;
};

const anyNumber = Symbol("any number");

/** What one item must be, or that any number of items may stand here. */
type GlobPart<Item> = typeof anyNumber | ((item: Item) => boolean);

const parseSegments = (pattern: string): readonly GlobPart<string>[] => {
  const names = pattern.replace(/\/$/, "/**").split("/");
  if (names.includes(".."))
    throw new ToolFailure("path_not_in_workspace", `The pattern ${pattern} leaves the folder it starts from.`);
  return names
    .filter((name) => name !== "." && name !== "")
    .map((name) => (name === "**" ? anyNumber : createNameMatcher(name)));
};

/** Most patterns mean names wherever they are: then nothing but the name is looked at. */
const createPathMatcher = (parts: readonly GlobPart<string>[]): ((path: string) => boolean) => {
  const [first, second] = parts;
  return parts.length === 2 && first === anyNumber && typeof second === "function"
    ? (path) => second(path.slice(path.lastIndexOf("/") + 1))
    : (path) => matchesParts(parts, path.split("/"));
};

/** How one name is compared. A name that is spelled as the pattern fits too, so that `[id].ts` finds itself. */
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

/** A set of letters in brackets; undefined where the bracket is never closed. */
const parseSet = (
  letters: readonly string[],
  at: number,
): { readonly fits: (letter: string) => boolean; readonly end: number } | undefined => {
  const isNegated = letters[at + 1] === "!" || letters[at + 1] === "^";
  const start = at + (isNegated ? 2 : 1);
  // A closing bracket that comes first is a letter of the set.
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
 * Compares from the left. Where it fails, only the last "any number" takes one item more: the ones before it
 * cannot do better, so the work is at most the product of both lengths.
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
