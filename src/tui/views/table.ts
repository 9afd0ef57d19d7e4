import { truncate, mergeSpans, line, lineWidth, padLine } from "../text/line.ts";
import type { StyledLine, StyledSpan } from "../text/style.ts";
import { wrap } from "../text/wrap.ts";

/** A table: head, rows and column alignment. Cells are lines. */
export type TableView = {
  readonly head: readonly StyledLine[];
  readonly rows: readonly (readonly StyledLine[])[];
  readonly align?: readonly ("left" | "right" | "center" | null)[];
};

const columnSeparator = " │ ";

/** The minimum column width before the table becomes a list of records. */
const minColumnWidth = 8;

/** Shows a table: as a grid with wrapped cells if it fits, else record by record. */
export const viewTable = (table: TableView, width: number): readonly StyledLine[] => {
  const widths = fitWidths(naturalWidths(table), width);
  return widths === undefined ? viewAsRecords(table, width) : grid(table, widths);
};

const naturalWidths = ({ head, rows }: TableView): readonly number[] =>
  head.map((cell, column) => Math.max(1, lineWidth(cell), ...rows.map((row) => lineWidth(row[column] ?? []))));

/** Shrinks the widest columns first. */
const fitWidths = (natural: readonly number[], width: number): readonly number[] | undefined => {
  const room = width - columnSeparator.length * (natural.length - 1);
  const total = natural.reduce((sum, each) => sum + each, 0);
  if (total <= room) return natural;
  const least = natural.reduce((sum, each) => sum + Math.min(each, minColumnWidth), 0);
  if (least > room) return undefined;
  let [low, high] = [minColumnWidth, Math.max(...natural)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const needed = natural.reduce((sum, each) => sum + Math.min(each, middle), 0);
    if (needed <= room) low = middle;
    else high = middle - 1;
  }
  return natural.map((each) => Math.min(each, low));
};

const muted = { tone: "muted" } as const;

const grid = ({ head, rows, align = [] }: TableView, widths: readonly number[]): readonly StyledLine[] => {
  const rule = line(widths.map((width) => "─".repeat(width)).join("─┼─"), muted);
  const bold = head.map((cell) => cell.map(({ text, style }) => ({ text, style: { ...style, bold: true as const } })));
  return [...gridRow(bold, widths, align), rule, ...rows.flatMap((row) => gridRow(row, widths, align))];
};

const gridRow = (
  cells: readonly StyledLine[],
  widths: readonly number[],
  align: NonNullable<TableView["align"]>,
): readonly StyledLine[] => {
  const wrapped = widths.map((width, column) => wrap(cells[column] ?? [], { width }));
  const height = Math.max(...wrapped.map((lines) => lines.length));
  return Array.from({ length: height }, (_, at) => {
    const spans: StyledSpan[] = [];
    widths.forEach((width, column) => {
      if (column > 0) spans.push({ text: columnSeparator, style: muted });
      spans.push(...aligned(wrapped[column]?.[at] ?? [], width, align[column] ?? "left"));
    });
    return mergeSpans(spans);
  });
};

const aligned = (cell: StyledLine, width: number, how: "left" | "right" | "center"): StyledLine => {
  const missing = width - lineWidth(cell);
  const before = how === "left" ? 0 : how === "right" ? missing : missing >> 1;
  return padLine([{ text: " ".repeat(Math.max(0, before)), style: {} }, ...cell], width);
};

/** Shows every row as lines, each cell after its column name. */
const viewAsRecords = ({ head, rows }: TableView, width: number): readonly StyledLine[] =>
  (rows.length === 0 ? [head.map(() => [])] : rows).flatMap((row, index) => [
    ...(index === 0 ? [] : [line("─".repeat(Math.min(width, 20)), muted)]),
    ...head.flatMap((name, column) => {
      const label = truncate(name, Math.max(4, width >> 1)).map(({ text, style }) => ({
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
