import { sanitizeLine } from "../text/line.ts";
import { type StyledLine, sameStyle, type Style } from "../text/style.ts";
import { graphemeWidth, graphemesOf, hasCertainWidth } from "../text/width.ts";

/** One cell of the screen. */
type ScreenCell = {
  readonly text: string;
  readonly style: Style;
  readonly columns: number;
  readonly hasCertainWidth: boolean;
};

/** One row of the screen as cells. */
export type ScreenRow = { readonly cells: readonly ScreenCell[]; readonly columns: number; readonly from: StyledLine };

/** Converts a line to a row: sanitized, and cut at the width. */
export const createRow = (from: StyledLine, width: number): ScreenRow => {
  const cells: ScreenCell[] = [];
  let columns = 0;
  for (const { text, style } of from)
    for (const grapheme of graphemesOf(sanitizeLine(text))) {
      const taken = graphemeWidth(grapheme);
      if (columns + taken > width) return { cells, columns, from };
      cells.push({ text: grapheme, style, columns: taken, hasCertainWidth: hasCertainWidth(grapheme) });
      columns += taken;
    }
  return { cells, columns, from };
};

/** The change that turns one row into another: cells to write at a column, and whether to clear the rest. */
export type RowChange = {
  readonly column: number;
  readonly cells: readonly ScreenCell[];
  /** Whether to clear the rest of the row before writing (so that no old cell shows through) or after it. */
  readonly clear: "before" | "after" | "no";
};

/** Returns the smallest difference between two rows; undefined if they are equal. */
export const diffRows = (old: ScreenRow, fresh: ScreenRow): RowChange | undefined => {
  if (old.from === fresh.from && old.columns === fresh.columns) return undefined;
  let start = 0;
  let column = 0;
  for (; start < fresh.cells.length; start++) {
    const cell = fresh.cells[start];
    if (cell === undefined || !sameCell(old.cells[start], cell)) break;
    column += cell.columns;
  }
  if (start === fresh.cells.length && start === old.cells.length) return undefined;
  const rest = fresh.cells.slice(start);
  const isSure =
    rest.every((cell) => cell.hasCertainWidth) && old.cells.slice(start).every((cell) => cell.hasCertainWidth);
  if (!isSure) return { column, cells: rest, clear: "before" };
  if (old.columns !== fresh.columns)
    return { column, cells: rest, clear: old.columns > fresh.columns ? "after" : "no" };
  return { column, cells: rest.slice(0, rest.length - commonEnd(old, fresh, start)), clear: "no" };
};

const commonEnd = (old: ScreenRow, fresh: ScreenRow, start: number): number => {
  const most = Math.min(old.cells.length, fresh.cells.length) - start;
  let count = 0;
  while (count < most) {
    const cell = fresh.cells[fresh.cells.length - 1 - count];
    if (cell === undefined || !sameCell(old.cells[old.cells.length - 1 - count], cell)) break;
    count += 1;
  }
  return count;
};

const sameCell = (old: ScreenCell | undefined, fresh: ScreenCell): boolean =>
  old !== undefined && old.text === fresh.text && sameStyle(old.style, fresh.style);
