import { sanitizeForTerminal } from "../policy/terminal/sanitize.ts";
/** Maximum line width. */
export const maxWidth = 100;

/** Formats rows of cells as aligned columns. Columns listed in `right` are right-aligned. */
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

/** Returns the width of each column. */
export const columnWidths = (rows: readonly (readonly string[])[]): number[] => {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, cell.length);
  return widths;
};

/** Wraps a text at the maximum line width; all lines but the first start with `indent`. Only words longer than a line are split. */
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

/** Sanitizes untrusted text for the terminal and puts it on one line. */
export const sanitizeLine = (text: string): string =>
  sanitizeForTerminal(
    text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, (controls) => (/^\s+$/.test(controls) ? " " : "\uFFFD")),
    "line",
  );

/** Truncates a text that is too long, with "..." at the end. */
export const truncate = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most - 3).toWellFormed()}...`;
