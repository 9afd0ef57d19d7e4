import type { TerminalSize } from "../../world/terminal.ts";
import type { StyledLine } from "../text/style.ts";
import type { SgrEncoder } from "./sgr.ts";
import { CursorWriter, type CellPosition } from "./cursor-writer.ts";
import { diffRows, createRow, type ScreenRow } from "./row.ts";

/** The live part of the screen, below all final lines. */
export type ScreenRegion = {
  readonly rows: readonly ScreenRow[];
  readonly size: TerminalSize;
  /** Position of the terminal's cursor. */
  readonly at: CellPosition;
  readonly isCursorShown: boolean;
  /** Whether the rows above the cursor are as high as the terminal's width makes them, whenever it got them. */
  readonly hasCertainHeight: boolean;
};

/** The content of a frame: `printed` lines are final and never touched again, `live` ones may change. */
export type FrameContent = {
  readonly printed: readonly StyledLine[];
  /** An encoded image placed over the first printed lines. */
  readonly image?: string | undefined;
  readonly live: readonly StyledLine[];
  /** Position of the visible cursor in the live part; without it the cursor is hidden at its start. */
  readonly cursor?: CellPosition | undefined;
  /** Whether output is streaming: frames follow each other too fast to draw more than what changed. */
  readonly isStreaming?: boolean | undefined;
  readonly size: TerminalSize;
  /** Whether the terminal wraps existing lines anew when it gets narrower; most do. */
  readonly reflows?: boolean | undefined;
};

/** An empty region that starts at the cursor's line. */
export const emptyRegion = (size: TerminalSize): ScreenRegion => ({
  rows: [],
  size,
  at: { row: 0, column: 0 },
  isCursorShown: true,
  hasCertainHeight: false,
});

/** Renders the bytes that turn one region into the next. The work depends on new and live lines, not on what was printed before. */
export const renderFrame = (
  before: ScreenRegion,
  scene: FrameContent,
  paint: SgrEncoder,
): { readonly region: ScreenRegion; readonly text: string } => {
  const { live: all, cursor, isStreaming = false, reflows = true, size } = scene;
  const isResized = before.size.columns !== size.columns || before.size.rows !== size.rows;
  const cut = Math.max(0, all.length - size.rows);
  const live = cut === 0 ? all : all.slice(cut);
  const rows = live.map(
    (line, at) => (isResized ? undefined : reuseRow(before.rows[at], line)) ?? createRow(line, size.columns),
  );
  const isShown = cursor !== undefined && cursor.row >= cut;
  const end = isShown
    ? { row: cursor.row - cut, column: Math.min(cursor.column, size.columns - 1) }
    : { row: 0, column: 0 };
  const mustBeCertain = reflows && !isStreaming && end.row > 0;
  const isHeightKept = before.hasCertainHeight && !isHigher(before, rows.slice(0, end.row));
  const isAnew = isResized || scene.printed.length > 0 || (mustBeCertain && !isHeightKept);
  const old = isAnew ? [] : before.rows;
  const pen = isAnew ? writePrinted(before, scene, paint) : new CursorWriter(paint, before.at);
  writeLive(pen, { old, rows, reserved: isAnew && mustBeCertain ? end.row : 0 });
  if (scene.image !== undefined) {
    pen.move({ row: -scene.printed.length, column: 0 });
    pen.writeImage(scene.image);
  }
  pen.move(end);
  pen.resetStyle();
  return {
    region: { rows, size, at: end, isCursorShown: isShown, hasCertainHeight: isAnew ? mustBeCertain : isHeightKept },
    text: synchronized(pen.text, before.isCursorShown, isShown),
  };
};

/** Whether rows above the cursor could take more of the screen than those before. */
const isHigher = (before: ScreenRegion, above: readonly ScreenRow[]): boolean =>
  above.length > before.at.row || above.some((row, at) => row.columns > (before.rows[at]?.columns ?? 0));

/** Prints the final lines; returns a writer at the start of an empty live part below them. */
const writePrinted = (
  before: ScreenRegion,
  { printed, size, reflows = true }: FrameContent,
  paint: SgrEncoder,
): CursorWriter => {
  const row = rowsAbove(before, size, reflows);
  const pen = new CursorWriter(paint, { row, column: undefined });
  pen.move({ row: 0, column: 0 });
  if (before.rows.length > 0) pen.clearBelow();
  pen.print(
    printed.map((line) => createRow(line, size.columns)),
    size.columns,
  );
  return pen;
};

/** Writes the live rows where they changed. The first `reserved` ones are as high as the terminal's width makes them. */
const writeLive = (
  pen: CursorWriter,
  {
    old,
    rows,
    reserved,
  }: { readonly old: readonly ScreenRow[]; readonly rows: readonly ScreenRow[]; readonly reserved: number },
): void => {
  rows.forEach((row, index) => {
    if (index < reserved) {
      pen.move({ row: index, column: 0 });
      pen.reserve(row.columns);
    }
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

/** Reuses the row of an unchanged line. */
const reuseRow = (old: ScreenRow | undefined, line: StyledLine): ScreenRow | undefined =>
  old?.from === line ? old : undefined;

/**
 * The screen rows above the cursor in the region. Most terminals reflow lines when they get narrower. Too small a number
 * leaves old live rows behind, too large a one would erase final lines: so reflow is counted only where it is certain.
 */
const rowsAbove = (
  { rows, at, size: before, hasCertainHeight }: ScreenRegion,
  { columns, rows: height }: TerminalSize,
  reflows: boolean,
): number => {
  if (!reflows || !hasCertainHeight || before.columns === columns) return Math.min(at.row, height - 1);
  const broken = rows.slice(0, at.row).reduce((sum, row) => sum + Math.max(1, Math.ceil(row.columns / columns)), 0);
  return Math.min(broken, height - 1);
};

/** Wraps output in a synchronized update with the cursor hidden meanwhile. */
const synchronized = (text: string, wasShown: boolean, isShown: boolean): string => {
  if (text === "" && wasShown === isShown) return "";
  const hide = wasShown && (text !== "" || !isShown) ? "\u001b[?25l" : "";
  const show = isShown && (text !== "" || !wasShown) ? "\u001b[?25h" : "";
  return `\u001b[?2026h${hide}${text}${show}\u001b[?2026l`;
};
