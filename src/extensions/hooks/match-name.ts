import type { Hook } from "./hook.ts";

/** Tests a name against the matcher of a hook. */
export type NameTest = (name: string) => boolean;

/**
 * Parses a matcher as Claude Code and Codex do: empty or `*` matches everything; letters, digits, `_` and `|` are exact
 * names joined by `|`; anything else is a regular expression that matches a part of the name. In Claude Code, commas and
 * spaces join names too. For Gemini CLI, names are a regular expression as well. Undefined if it is not valid.
 */
export const parseMatcher = (matcher: string, format?: Hook["format"]): NameTest | undefined => {
  const trimmed = matcher.trim();
  if (trimmed === "" || trimmed === "*") return () => true;
  if (format !== "gemini" && (format === "codex" ? /^[\w|]+$/ : /^[\w|, ]+$/).test(trimmed)) {
    const names = trimmed.split(/[|,]/).map((name) => name.trim());
    return (name) => names.includes(name);
  }
  if (trimmed.length > maxLength) return undefined;
  try {
    const pattern = new RegExp(trimmed, "u");
    return (name) => pattern.test(name);
  } catch {
    return undefined;
  }
};

/** Longer than any list of tool names; a bound for the regular expression. */
const maxLength = 2000;
