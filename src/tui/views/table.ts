import { cut, joined, line, lineColumns, padded } from "../text/line.ts";
import type { Line, Span } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** A table: a head, rows, and how each column is aligned. Cells are lines. */
export type Table = {
  readonly head: readonly Line[];
  readonly rows: readonly (readonly Line[])[];
  readonly align?: readonly ("left" | "right" | "center" | null)[];
};

const between = " │ ";

/** The narrowest a column is made before the table becomes a list of its rows. */
const narrowest = 8;

/** A table in lines: as a grid where it fits, with its cells wrapped where need be, and row by row where it is too narrow for that. */
export const viewTable = (table: Table, width: number): readonly Line[] => {
  const widths = fitted(naturalWidths(table), width);
  return widths === undefined ? records(table, width) : grid(table, widths);
};

const naturalWidths = ({ head, rows }: Table): readonly number[] =>
  head.map((cell, column) => Math.max(1, lineColumns(cell), ...rows.map((row) => lineColumns(row[column] ?? []))));

/** Takes room from the widest columns first. */
const fitted = (natural: readonly number[], width: number): readonly number[] | undefined => {
  const room = width - between.length * (natural.length - 1);
  const total = natural.reduce((sum, each) => sum + each, 0);
  if (total <= room) return natural;
  const least = natural.reduce((sum, each) => sum + Math.min(each, narrowest), 0);
  if (least > room) return undefined;
  let [low, high] = [narrowest, Math.max(...natural)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const needed = natural.reduce((sum, each) => sum + Math.min(each, middle), 0);
    if (needed <= room) low = middle;
    else high = middle - 1;
  }
  return natural.map((each) => Math.min(each, low));
};

const muted = { tone: "muted" } as const;

const grid = ({ head, rows, align = [] }: Table, widths: readonly number[]): readonly Line[] => {
  const rule = line(widths.map((width) => "─".repeat(width)).join("─┼─"), muted);
  const bold = head.map((cell) => cell.map(({ text, style }) => ({ text, style: { ...style, bold: true as const } })));
  return [...gridRow(bold, widths, align), rule, ...rows.flatMap((row) => gridRow(row, widths, align))];
};

const gridRow = (
  cells: readonly Line[],
  widths: readonly number[],
  align: NonNullable<Table["align"]>,
): readonly Line[] => {
  const wrapped = widths.map((width, column) => wrap(cells[column] ?? [], { width }));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const spans: Span[] = [];
    widths.forEach((width, column) => {
      if (column > 0) spans.push({ text: between, style: muted });
      spans.push(...aligned(wrapped[column]?.[at] ?? [], width, align[column] ?? "left"));
    });
    return joined(spans);
  });
};

const aligned = (cell: Line, width: number, how: "left" | "right" | "center"): Line => {
  const missing = width - lineColumns(cell);
  const before = how === "left" ? 0 : how === "right" ? missing : missing >> 1;
  return padded([{ text: " ".repeat(Math.max(0, before)), style: {} }, ...cell], width);
};

/** Every row as lines of its own, each cell after the name of its column. */
const records = ({ head, rows }: Table, width: number): readonly Line[] =>
  (rows.length === 0 ? [head.map(() => [])] : rows).flatMap((row, index) => [
    ...(index === 0 ? [] : [line("─".repeat(Math.min(width, 20)), muted)]),
    ...head.flatMap((name, column) => {
      const label = cut(name, Math.max(4, width >> 1)).map(({ text, style }) => ({
        text,
        style: { ...style, bold: true as const },
      }));
      return wrap(row[column] ?? [], {
        width,
        first: [...label, { text: ": ", style: {} }],
        rest: [{ text: "  ", style: {} }],
      });
    }),
  ]);
