import { sanitizeLine } from "../text/line.ts";
import { textWidth, graphemesOf } from "../text/width.ts";
import { type Editor, pasteLabel, pasteIndex } from "./state.ts";

/** A visual row: the cells from `start` to `end` of the text. */
export type TextRow = { readonly start: number; readonly end: number; readonly cells: readonly EditorCell[] };

/** A grapheme: its offset, how it is shown, and its width in columns. */
type EditorCell = {
  readonly at: number;
  readonly shown: string;
  readonly columns: number;
  readonly isPaste: boolean;
};

/** Lays the editor text out in rows beside the prompt sign. */
export const editorRows = ({ text, pastes, columns }: Editor): readonly TextRow[] =>
  rowsOf(text, pastes, Math.max(2, columns - promptColumns));

/** Width of the prompt sign. */
export const promptColumns = 2;

/** Wraps a text to the width, leaving room for the cursor after the last cell of every line. */
const rowsOf = (text: string, pastes: readonly string[], width: number): readonly TextRow[] => {
  const rows: TextRow[] = [];
  let start = 0;
  let at = 0;
  let columns = 0;
  let cells: EditorCell[] = [];
  const end = (next: number): void => {
    rows.push({ start, end: at, cells: cells });
    [start, cells, columns] = [next, [], 0];
  };
  for (const grapheme of graphemesOf(text)) {
    if (grapheme === "\n") {
      end(at + 1);
      at += 1;
      continue;
    }
    const cell = cellOf(grapheme, { at, pastes, width });
    if (columns + cell.columns >= width && columns > 0) end(at);
    cells.push(cell);
    columns += cell.columns;
    at += grapheme.length;
  }
  end(at);
  return rows;
};

const cellOf = (
  grapheme: string,
  { at, pastes, width }: { readonly at: number; readonly pastes: readonly string[]; readonly width: number },
): EditorCell => {
  const paste = pasteIndex(grapheme);
  if (paste !== undefined) {
    const shown = pasteLabel(pastes[paste] ?? "", paste).slice(0, Math.max(1, width - 1));
    return { at, shown, columns: textWidth(shown), isPaste: true };
  }
  const clean = grapheme === "\t" ? "    " : sanitizeLine(grapheme);
  const shown = clean === "" ? "\ufffd" : clean;
  return { at, shown, columns: textWidth(shown), isPaste: false };
};

/** The row and column of a text offset. */
export const positionOf = (
  rows: readonly TextRow[],
  place: number,
): { readonly row: number; readonly column: number } => {
  const row = Math.max(
    0,
    rows.findLastIndex(({ start }) => start <= place),
  );
  const cells = rows[row]?.cells ?? [];
  return { row, column: cells.reduce((sum, { at, columns }) => (at < place ? sum + columns : sum), 0) };
};

/** The text offset nearest to a column of a row. */
export const offsetAt = (row: TextRow, column: number): number => {
  let columns = 0;
  for (const cell of row.cells) {
    if (columns + cell.columns > column) return cell.at;
    columns += cell.columns;
  }
  return row.end;
};
