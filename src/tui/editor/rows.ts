import { oneLine } from "../text/line.ts";
import { columnsOf, graphemesOf } from "../text/width.ts";
import { type Editor, pasteLabel, pasteOf } from "./state.ts";

/** A row as it is seen: the letters from `start` to `end` of the text. */
export type TextRow = { readonly start: number; readonly end: number; readonly letters: readonly Letter[] };

/** One letter: its place in the text, how it is shown and how many columns that takes. */
type Letter = {
  readonly at: number;
  readonly shown: string;
  readonly columns: number;
  readonly isPaste: boolean;
};

/** The rows of an editor, beside its sign. */
export const editorRows = ({ text, pastes, columns }: Editor): readonly TextRow[] =>
  rowsOf(text, pastes, Math.max(2, columns - signColumns));

/** How wide the sign before the text is. */
export const signColumns = 2;

/** A text in rows no wider than this. There is room for the cursor behind the last letter of every line. */
const rowsOf = (text: string, pastes: readonly string[], width: number): readonly TextRow[] => {
  const rows: TextRow[] = [];
  let start = 0;
  let at = 0;
  let columns = 0;
  let letters: Letter[] = [];
  const end = (next: number): void => {
    rows.push({ start, end: at, letters });
    [start, letters, columns] = [next, [], 0];
  };
  for (const grapheme of graphemesOf(text)) {
    if (grapheme === "\n") {
      end(at + 1);
      at += 1;
      continue;
    }
    const letter = letterOf(grapheme, { at, pastes, width });
    if (columns + letter.columns >= width && columns > 0) end(at);
    letters.push(letter);
    columns += letter.columns;
    at += grapheme.length;
  }
  end(at);
  return rows;
};

const letterOf = (
  grapheme: string,
  { at, pastes, width }: { readonly at: number; readonly pastes: readonly string[]; readonly width: number },
): Letter => {
  const paste = pasteOf(grapheme);
  if (paste !== undefined) {
    const shown = pasteLabel(pastes[paste] ?? "", paste).slice(0, Math.max(1, width - 1));
    return { at, shown, columns: columnsOf(shown), isPaste: true };
  }
  const clean = grapheme === "\t" ? "    " : oneLine(grapheme);
  const shown = clean === "" ? "\ufffd" : clean;
  return { at, shown, columns: columnsOf(shown), isPaste: false };
};

/** Where a place in the text is seen: which row, and how far to the right. */
export const seenAt = (rows: readonly TextRow[], place: number): { readonly row: number; readonly column: number } => {
  const row = Math.max(
    0,
    rows.findLastIndex(({ start }) => start <= place),
  );
  const letters = rows[row]?.letters ?? [];
  return { row, column: letters.reduce((sum, { at, columns }) => (at < place ? sum + columns : sum), 0) };
};

/** The place in a row that is seen nearest to a column. */
export const placeAt = (row: TextRow, column: number): number => {
  let columns = 0;
  for (const letter of row.letters) {
    if (columns + letter.columns > column) return letter.at;
    columns += letter.columns;
  }
  return row.end;
};
