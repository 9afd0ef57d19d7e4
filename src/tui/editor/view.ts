import { cut, oneLine } from "../text/line.ts";
import type { Line, Span } from "../text/style.ts";
import { editorRows, seenAt, signColumns, type TextRow } from "./rows.ts";
import { type Editor, modeOf, type Search } from "./state.ts";

/** What is seen of an editor, and where its cursor is. */
export type EditorView = {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
};

/** How an editor is shown: as high as needed up to `height` rows; the cursor is always among them. */
export const viewEditor = (
  editor: Editor,
  { height, hint = "" }: { readonly height: number; readonly hint?: string },
): EditorView => {
  const { text, cursor, search } = editor;
  const rows = editorRows(editor);
  const seen = seenAt(rows, cursor);
  const count = Math.max(1, Math.min(height - (search === undefined ? 0 : 1), rows.length));
  const top = Math.max(0, Math.min(seen.row - count + 1 + Math.floor(count / 2), rows.length - count));
  const first = count === rows.length ? 0 : top;
  const lines = rows.slice(first, first + count).map((row, at) => [sign(editor, first + at), ...spansOf(row)]);
  if (text === "" && hint !== "") lines[0] = [sign(editor, 0), { text: oneLine(hint), style: { tone: "muted" } }];
  const found = search === undefined ? [] : [cut(searchLine(search), editor.columns)];
  return { lines: [...lines, ...found], cursor: { row: seen.row - first, column: seen.column + signColumns } };
};

const sign = (editor: Editor, row: number): Span => {
  if (row > 0) return { text: "  ", style: {} };
  const isShell = modeOf(editor) === "shell";
  return { text: isShell ? "! " : "> ", style: { tone: isShell ? "warning" : "accent", bold: true } };
};

const spansOf = ({ letters }: TextRow): readonly Span[] =>
  letters.map(({ shown, isPaste }) => ({ text: shown, style: isPaste ? { tone: "accent", italic: true } : {} }));

const searchLine = ({ query, isFound }: Search): Line => [
  { text: isFound ? "search: " : "not found: ", style: { tone: isFound ? "muted" : "warning" } },
  { text: oneLine(query), style: {} },
];
