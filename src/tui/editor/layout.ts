import { sanitizeLine } from "../text/line.ts";
import { textWidth, graphemesOf } from "../text/width.ts";
import { type Editor, pasteLabel, pasteIndex } from "./state.ts";

/** A row as it is seen: the letters from `start` to `end` of the text. */
export type TextRow = { readonly start: number; readonly end: number; readonly cells: readonly EditorCell[] };

/** One letter: its place in the text, how it is shown and how many columns that takes. */
type EditorCell = {
  readonly at: number;
  readonly shown: string;
  readonly columns: number;
  readonly isPaste: boolean;
};

/** The rows of an editor, beside its sign. */
export const editorRows = ({ text, pastes, columns }: Editor): readonly TextRow[] =>
  rowsOf(text, pastes, Math.max(2, columns - promptColumns));

/** How wide the sign before the text is. */
export const promptColumns = 2;

/** A text in rows no wider than this. There is room for the cursor behind the last letter of every line. */
const rowsOf = (text: string, pastes: readonly string[], width: number): readonly TextRow[] => {
  const rows: TextRow[] = [];
  let start = 0;
  let at = 0;
  let columns = 0;
  let letters: EditorCell[] = [];
  const end = (next: number): void => {
    rows.push({ start, end: at, cells: letters });
    [start, letters, columns] = [next, [], 0];
  };
  for (const grapheme of graphemesOf(text)) {
    if (grapheme === "\n") {
      end(at + 1);
      at += 1;
      continue;
    }
    const letter = cellOf(grapheme, { at, pastes, width });
    if (columns + letter.columns >= width && columns > 0) end(at);
    letters.push(letter);
    columns += letter.columns;
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

/** Where a place in the text is seen: which row, and how far to the right. */
export const positionOf = (
  rows: readonly TextRow[],
  place: number,
): { readonly row: number; readonly column: number } => {
  const row = Math.max(
    0,
    rows.findLastIndex(({ start }) => start <= place),
  );
  const letters = rows[row]?.cells ?? [];
  return { row, column: letters.reduce((sum, { at, columns }) => (at < place ? sum + columns : sum), 0) };
};

/** The place in a row that is seen nearest to a column. */
export const offsetAt = (row: TextRow, column: number): number => {
  let columns = 0;
  for (const letter of row.cells) {
    if (columns + letter.columns > column) return letter.at;
    columns += letter.columns;
  }
  return row.end;
};
