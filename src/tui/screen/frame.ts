import type { TerminalSize } from "../../world/terminal.ts";
import type { Line } from "../text/style.ts";
import type { Paint } from "./paint.ts";
import { Pen, type Spot } from "./pen.ts";
import { changeBetween, rowOf, type Row } from "./row.ts";

/** What is on the screen below everything that is finished. */
export type Region = {
  readonly rows: readonly Row[];
  readonly size: TerminalSize;
  /** Where the terminal's cursor stands. */
  readonly at: Spot;
  readonly isCursorShown: boolean;
};

/** What shall be on the screen: `printed` is finished and never touched again, `live` may change. */
export type Scene = {
  readonly printed: readonly Line[];
  /** What is put over the first of the printed lines: a picture, already in the terminal's own words. */
  readonly picture?: string | undefined;
  readonly live: readonly Line[];
  /** Where the cursor is shown in the live part; hidden without. */
  readonly cursor?: Spot | undefined;
  readonly size: TerminalSize;
};

/** An empty screen, from the line on which the cursor stands. */
export const emptyRegion = (size: TerminalSize): Region => ({
  rows: [],
  size,
  at: { row: 0, column: 0 },
  isCursorShown: true,
});

/**
 * What to write to get from one region to the next. Lines that were live and are
 * now finished stay where they are; the work depends on what is new and what is live, not on what was printed before.
 */
export const frame = (
  before: Region,
  scene: Scene,
  paint: Paint,
): { readonly region: Region; readonly text: string } => {
  const { size } = scene;
  const isResized = before.size.columns !== size.columns || before.size.rows !== size.rows;
  const old = isResized ? [] : before.rows;
  const cut = Math.max(0, scene.live.length - size.rows);
  const live = cut === 0 ? scene.live : scene.live.slice(cut);
  const rows = [...scene.printed, ...live].map((line, at) => known(old[at], line) ?? rowOf(line, size.columns));
  const at = isResized ? { row: rowsAbove(before, size), column: 0 } : before.at;
  const pen = new Pen(paint, { at, rows: isResized ? at.row + 1 : old.length });
  // From a place nobody is sure of, only the beginning of the line can be reached surely.
  const opening = isResized ? "\r" : "";
  if (isResized) {
    pen.move({ row: 0, column: 0 });
    pen.clearBelow();
  }
  rows.forEach((row, index) => {
    const change = changeBetween(old[index] ?? empty, row);
    if (change !== undefined) {
      pen.move({ row: index, column: change.column });
      pen.write(change);
    } else if (index >= old.length) pen.move({ row: index, column: 0 });
  });
  if (old.length > rows.length) {
    pen.move({ row: rows.length, column: 0 });
    pen.clearBelow();
  }
  if (scene.picture !== undefined) {
    pen.move({ row: 0, column: 0 });
    pen.place(scene.picture);
  }
  const end = endOf(scene, rows, cut);
  pen.move(end);
  pen.rest();
  const first = scene.printed.length;
  return {
    region: {
      rows: rows.slice(first),
      size,
      at: { row: end.row - first, column: end.column },
      isCursorShown: scene.cursor !== undefined,
    },
    text: wrapped(opening + pen.text, before.isCursorShown, scene.cursor !== undefined),
  };
};

const empty: Row = { cells: [], columns: 0, from: [] };

/** A line that is drawn already needs no second look. */
const known = (old: Row | undefined, line: Line): Row | undefined => (old?.from === line ? old : undefined);

/** Where the cursor stands at the end, counted from the top of everything drawn. */
const endOf = ({ printed, live, cursor, size }: Scene, rows: readonly Row[], cut: number): Spot => {
  if (cursor !== undefined && cursor.row >= cut)
    return { row: printed.length + cursor.row - cut, column: Math.min(cursor.column, size.columns - 1) };
  return { row: live.length === 0 ? rows.length : rows.length - 1, column: 0 };
};

/** How many rows of the screen are above the cursor in the region, once the terminal has broken its lines anew. */
const rowsAbove = ({ rows, at }: Region, { columns, rows: height }: TerminalSize): number => {
  const broken = rows.slice(0, at.row).reduce((sum, row) => sum + Math.max(1, Math.ceil(row.columns / columns)), 0);
  return Math.min(broken, height - 1);
};

/** All of it at once for terminals that can, without a cursor that runs about. */
const wrapped = (text: string, wasShown: boolean, isShown: boolean): string => {
  if (text === "" && wasShown === isShown) return "";
  const hide = wasShown && (text !== "" || !isShown) ? "\u001b[?25l" : "";
  const show = isShown && (text !== "" || !wasShown) ? "\u001b[?25h" : "";
  return `\u001b[?2026h${hide}${text}${show}\u001b[?2026l`;
};
