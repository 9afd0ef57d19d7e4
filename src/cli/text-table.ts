import { sanitizeForTerminal } from "../policy/terminal/sanitize.ts";
/** The widest line a table prints. */
export const maxWidth = 100;

/** Rows of cells as aligned lines. Columns named in `right` end together instead of beginning together. */
export const alignColumns = (
  rows: readonly (readonly string[])[],
  { right = [] }: { readonly right?: readonly number[] } = {},
): readonly string[] => {
  const widths = columnWidths(rows);
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return right.includes(column) ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
};

/** How wide each column is. */
export const columnWidths = (rows: readonly (readonly string[])[]): number[] => {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return widths;
};

/** A text in lines that are no wider than a table; all but the first begin with `indent`. Only words that fit no line are broken. */
export const wrapText = (text: string, indent: string): string => {
  const lines: string[] = [];
  let line = /^ */.exec(text)?.[0] ?? "";
  for (const word of text
    .trimStart()
    .split(" ")
    .flatMap((each) => splitWord(each, maxWidth - indent.length))) {
    const longer = line.trim() === "" ? line + word : `${line} ${word}`;
    if (longer.length <= maxWidth) {
      line = longer;
      continue;
    }
    lines.push(line.trimEnd());
    line = indent + word;
  }
  return [...lines, line].join("\n");
};

const splitWord = (word: string, width: number): readonly string[] =>
  word.length <= width ? [word] : [word.slice(0, width), ...splitWord(word.slice(width), width)];

/** Text that others wrote, on one line and without anything that reaches the terminal's controls. */
export const sanitizeLine = (text: string): string =>
  sanitizeForTerminal(
    text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, (controls) => (/^\s+$/.test(controls) ? " " : "\uFFFD")),
    "line",
  );

/** The beginning of a text that is too long, marked as such. */
export const truncate = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 3).toWellFormed()}...`;
