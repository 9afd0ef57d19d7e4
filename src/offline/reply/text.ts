/** Formats a count: "1 file", "3 files". */
export const countOf = (number: number, thing: string): string =>
  `${groupThousands(number)} ${number === 1 ? thing : /(?:ch|s|x)$/.test(thing) ? `${thing}es` : `${thing}s`}`;

/** Formats a number with thousands separators. */
export const groupThousands = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

/** Joins items: "a, b and c". Of many, the first are named and the rest counted. */
export const joinList = (things: readonly string[], most = 20): string => {
  if (things.length > most) return `${things.slice(0, most).join(", ")} and ${things.length - most} more`;
  const [last = ""] = things.slice(-1);
  return things.length < 2 ? last : `${things.slice(0, -1).join(", ")} and ${last}`;
};

/** Wraps a text in a code fence it cannot close. */
export const codeBlock = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
};

/** Returns the first or last lines of a text, and the total number of lines. */
export const excerpt = (
  text: string,
  { most = 40, end = "first" }: { readonly most?: number; readonly end?: "first" | "last" } = {},
): { readonly text: string; readonly shown: number; readonly all: number } => {
  const lines = linesOf(text);
  const kept = end === "first" ? lines.slice(0, most) : lines.slice(-most);
  return {
    text: kept.map((line) => (line.length > 300 ? `${line.slice(0, 300).toWellFormed()}...` : line)).join("\n"),
    shown: kept.length,
    all: lines.length,
  };
};

/** Splits a text into lines; a trailing newline starts no further line. */
export const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** Ends a sentence with a full stop unless it has an end mark. */
export const endSentence = (text: string): string => {
  const trimmed = text.trim();
  return /[.!?:`]$/.test(trimmed) ? trimmed : `${trimmed}.`;
};
