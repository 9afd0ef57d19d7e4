import type { TerminalSize } from "../../world/terminal.ts";
import type { StyledLine } from "../text/style.ts";
import type { SgrEncoder } from "./sgr.ts";
import { CursorWriter, type CellPosition } from "./cursor-writer.ts";
import { diffRows, createRow, type ScreenRow } from "./row.ts";

/** What is on the screen below everything that is finished. */
export type ScreenRegion = {
  readonly rows: readonly ScreenRow[];
  readonly size: TerminalSize;
  /** Where the terminal's cursor stands. */
  readonly at: CellPosition;
  readonly isCursorShown: boolean;
  readonly isStreaming: boolean;
};

/** What shall be on the screen: `printed` is finished and never touched again, `live` may change. */
export type FrameContent = {
  readonly printed: readonly StyledLine[];
  /** What is put over the first of the printed lines: a picture, already in the terminal's own words. */
  readonly image?: string | undefined;
  readonly live: readonly StyledLine[];
  /** Where the cursor is shown in the live part; without, it rests hidden at its beginning. */
  readonly cursor?: CellPosition | undefined;
  /** Whether more is printed all the time, so that the terminal may get its next size before it gets this frame. */
  readonly isStreaming?: boolean | undefined;
  readonly size: TerminalSize;
};

/** An empty screen, from the line on which the cursor stands. */
export const emptyRegion = (size: TerminalSize): ScreenRegion => ({
  rows: [],
  size,
  at: { row: 0, column: 0 },
  isCursorShown: true,
  isStreaming: false,
});

/** What to write to get from one region to the next. The work depends on what is new and what is live, not on what was printed before. */
export const renderFrame = (
  before: ScreenRegion,
  scene: FrameContent,
  paint: SgrEncoder,
): { readonly region: ScreenRegion; readonly text: string } => {
  const { live: all, cursor, isStreaming: isFlowing = false, size } = scene;
  const isResized = before.size.columns !== size.columns || before.size.rows !== size.rows;
  const isAnew = isResized || scene.printed.length > 0;
  const old = isAnew ? [] : before.rows;
  const cut = Math.max(0, all.length - size.rows);
  const live = cut === 0 ? all : all.slice(cut);
  const rows = live.map((line, at) => reuseRow(old[at], line) ?? createRow(line, size.columns));
  const pen = isAnew
    ? writePrinted(before, scene, paint)
    : new CursorWriter(paint, { at: before.at, rows: old.length });
  writeLive(pen, old, rows);
  if (scene.image !== undefined) {
    pen.move({ row: -scene.printed.length, column: 0 });
    pen.writeImage(scene.image);
  }
  const isShown = cursor !== undefined && cursor.row >= cut;
  const end = isShown
    ? { row: cursor.row - cut, column: Math.min(cursor.column, size.columns - 1) }
    : { row: 0, column: 0 };
  pen.move(end);
  pen.resetStyle();
  return {
    region: { rows, size, at: end, isCursorShown: isShown, isStreaming: isFlowing },
    text: synchronized(pen.text, before.isCursorShown, isShown),
  };
};

/** A pen at the beginning of an empty live part, below what is printed. */
const writePrinted = (before: ScreenRegion, { printed, size }: FrameContent, paint: SgrEncoder): CursorWriter => {
  const row = rowsAbove(before, size);
  const pen = new CursorWriter(paint, { at: { row, column: undefined }, rows: row + 1 });
  pen.move({ row: 0, column: 0 });
  if (before.rows.length > 0) pen.clearBelow();
  pen.print(printed.map((line) => createRow(line, size.columns)));
  return pen;
};

const writeLive = (pen: CursorWriter, old: readonly ScreenRow[], rows: readonly ScreenRow[]): void => {
  rows.forEach((row, index) => {
    const change = diffRows(old[index] ?? empty, row);
    if (change !== undefined) {
      pen.move({ row: index, column: change.column });
      pen.write(change);
    } else if (index >= old.length) pen.move({ row: index, column: 0 });
  });
  if (old.length > rows.length) {
    pen.move({ row: rows.length, column: 0 });
    pen.clearBelow();
  }
};

const empty: ScreenRow = { cells: [], columns: 0, from: [] };

/** A line that is drawn already needs no second look. */
const reuseRow = (old: ScreenRow | undefined, line: StyledLine): ScreenRow | undefined =>
  old?.from === line ? old : undefined;

/**
 * How many rows of the screen are above the cursor in the region. Most terminals break lines anew when they become
 * narrower; a frame that came after that was cut instead. Too few leave something live behind, too many would take
 * what is finished: so while frames are on their way, no line is taken to be broken.
 */
const rowsAbove = (
  { rows, at, size: before, isStreaming: isFlowing }: ScreenRegion,
  { columns, rows: height }: TerminalSize,
): number => {
  if (isFlowing || before.columns === columns) return Math.min(at.row, height - 1);
  const broken = rows.slice(0, at.row).reduce((sum, row) => sum + Math.max(1, Math.ceil(row.columns / columns)), 0);
  return Math.min(broken, height - 1);
};

/** All of it at once for terminals that can, without a cursor that runs about. */
const synchronized = (text: string, wasShown: boolean, isShown: boolean): string => {
  if (text === "" && wasShown === isShown) return "";
  const hide = wasShown && (text !== "" || !isShown) ? "\u001b[?25l" : "";
  const show = isShown && (text !== "" || !wasShown) ? "\u001b[?25h" : "";
  return `\u001b[?2026h${hide}${text}${show}\u001b[?2026l`;
};
