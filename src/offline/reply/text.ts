/** A number of things: "1 file", "3 files". */
export const countOf = (number: number, thing: string): string =>
  `${groupThousands(number)} ${number === 1 ? thing : /(?:ch|s|x)$/.test(thing) ? `${thing}es` : `${thing}s`}`;

/** A number with its thousands apart. */
export const groupThousands = (number: number): string => String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");

/** Things one after the other: "a, b and c". Of many, the first ones are named and the rest counted. */
export const joinList = (things: readonly string[], most = 20): string => {
  if (things.length > most) return `${things.slice(0, most).join(", ")} and ${things.length - most} more`;
  const [last = ""] = things.slice(-1);
  return things.length < 2 ? last : `${things.slice(0, -1).join(", ")} and ${last}`;
};

/** A text as a block of code that it cannot break out of. */
export const codeBlock = (text: string): string => {
  const longest = Math.max(2, ...[...text.matchAll(/`{3,}/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, "")}\n${fence}`;
};

/** The first or last lines of a text, and how many there are in all. */
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

/** Lines of a text; the end of the last one begins no other. */
export const linesOf = (text: string): readonly string[] => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));

/** A sentence that ends as one. */
export const endSentence = (text: string): string => {
  const trimmed = text.trim();
  return /[.!?:`]$/.test(trimmed) ? trimmed : `${trimmed}.`;
};
