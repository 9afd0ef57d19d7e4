import { oneLine } from "../text/line.ts";
import { type Line, sameStyle, type Style } from "../text/style.ts";
import { columnsOfGrapheme, graphemesOf, isCertain } from "../text/width.ts";

/** One letter on the screen. */
type Cell = { readonly text: string; readonly style: Style; readonly columns: number; readonly isCertain: boolean };

/** One row of the screen, letter by letter. */
export type Row = { readonly cells: readonly Cell[]; readonly columns: number; readonly from: Line };

/** A line as a row: whatever it holds, nothing in it acts on the terminal, and nothing goes beyond the width. */
export const rowOf = (from: Line, width: number): Row => {
  const cells: Cell[] = [];
  let columns = 0;
  for (const { text, style } of from)
    for (const grapheme of graphemesOf(oneLine(text))) {
      const taken = columnsOfGrapheme(grapheme);
      if (columns + taken > width) return { cells, columns, from };
      cells.push({ text: grapheme, style, columns: taken, isCertain: isCertain(grapheme) });
      columns += taken;
    }
  return { cells, columns, from };
};

/** What must be written to turn one row into another: the cells from `start` to `end`, at a column; then perhaps clearing what is left. */
export type Change = {
  readonly column: number;
  readonly cells: readonly Cell[];
  /** Clear the rest of the row: before writing, so that nothing shines through, or after it. */
  readonly clear: "before" | "after" | "no";
};

/** The smallest stretch in which two rows differ, or undefined when they are the same. */
export const changeBetween = (old: Row, fresh: Row): Change | undefined => {
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
  const isSure = rest.every((cell) => cell.isCertain) && old.cells.slice(start).every((cell) => cell.isCertain);
  if (!isSure) return { column, cells: rest, clear: "before" };
  if (old.columns !== fresh.columns)
    return { column, cells: rest, clear: old.columns > fresh.columns ? "after" : "no" };
  return { column, cells: rest.slice(0, rest.length - commonEnd(old, fresh, start)), clear: "no" };
};

const commonEnd = (old: Row, fresh: Row, start: number): number => {
  const most = Math.min(old.cells.length, fresh.cells.length) - start;
  let count = 0;
  while (count < most) {
    const cell = fresh.cells[fresh.cells.length - 1 - count];
    if (cell === undefined || !sameCell(old.cells[old.cells.length - 1 - count], cell)) break;
    count += 1;
  }
  return count;
};

const sameCell = (old: Cell | undefined, fresh: Cell): boolean =>
  old !== undefined && old.text === fresh.text && sameStyle(old.style, fresh.style);
