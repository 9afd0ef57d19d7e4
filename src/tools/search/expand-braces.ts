import { ToolFailure } from "../tool.ts";

/** Limit on the alternatives of one pattern. */
const maxAlternatives = 1000;

/** Expands `{a,b}`, `{1..3}` and `@(a|b)` into all alternatives. Anything else stays unchanged. */
export const expandBraces = (pattern: string): readonly string[] => {
  let done: string[] = [""];
  for (let at = 0; at < pattern.length;) {
    const choice = choiceAt(pattern, at);
    const texts = choice?.texts.flatMap(expandBraces) ?? [pattern.slice(at, at + lengthAt(pattern, at))];
    if (done.length * texts.length > maxAlternatives)
      throw new ToolFailure("invalid_tool_params", `The pattern ${pattern.slice(0, 200)} has too many alternatives.`);
    done = done.flatMap((start) => texts.map((text) => start + text));
    at = choice?.end ?? at + lengthAt(pattern, at);
  }
  return done;
};

/** A backslash escapes the next character. */
const lengthAt = (pattern: string, at: number): number => (pattern[at] === "\\" && at + 1 < pattern.length ? 2 : 1);

type BraceChoice = { readonly texts: readonly string[]; readonly end: number };

const choiceAt = (pattern: string, at: number): BraceChoice | undefined => {
  if (pattern[at] === "{") return splitChoice(pattern, at + 1, { close: "}", between: "," });
  return pattern.startsWith("@(", at) ? splitChoice(pattern, at + 2, { close: ")", between: "|" }) : undefined;
};

/** The alternatives up to the closing bracket; undefined where it is missing or there is nothing to choose from. */
const splitChoice = (
  pattern: string,
  from: number,
  { close, between }: { readonly close: string; readonly between: string },
): BraceChoice | undefined => {
  const texts: string[] = [];
  let start = from;
  let depth = 0;
  for (let at = from; at < pattern.length; at += lengthAt(pattern, at)) {
    const sign = pattern[at];
    if (sign === "{" || (sign === "(" && pattern[at - 1] === "@")) depth += 1;
    else if (depth > 0 && (sign === "}" || sign === ")")) depth -= 1;
    else if (depth === 0 && (sign === between || sign === close)) {
      texts.push(pattern.slice(start, at));
      start = at + 1;
      if (sign === close) return toChoice(texts, { close, end: start });
    }
  }
  return undefined;
};

const toChoice = (
  texts: readonly string[],
  { close, end }: { close: string; end: number },
): BraceChoice | undefined => {
  if (texts.length > 1 || close === ")") return { texts, end };
  const [, first, last] = /^(\d{1,4})\.\.(\d{1,4})$/.exec(texts[0] ?? "") ?? [];
  if (first === undefined || last === undefined) return undefined;
  const [from, to] = [Number(first), Number(last)].toSorted((one, other) => one - other) as [number, number];
  return { texts: Array.from({ length: to - from + 1 }, (_, index) => `${from + index}`), end };
};
