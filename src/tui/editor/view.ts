import { truncate, sanitizeLine } from "../text/line.ts";
import type { StyledLine, StyledSpan } from "../text/style.ts";
import { editorRows, positionOf, promptColumns, type TextRow } from "./layout.ts";
import { type Editor, modeOf, type HistorySearch } from "./state.ts";

/** The lines of an editor and its cursor. */
export type EditorView = {
  readonly lines: readonly StyledLine[];
  readonly cursor: { readonly row: number; readonly column: number };
};

/** Shows the editor in up to `height` rows, scrolled so that the cursor is visible. */
export const viewEditor = (
  editor: Editor,
  { height, hint = "" }: { readonly height: number; readonly hint?: string },
): EditorView => {
  const { text, cursor, search } = editor;
  const rows = editorRows(editor);
  const seen = positionOf(rows, cursor);
  const count = Math.max(1, Math.min(height - (search === undefined ? 0 : 1), rows.length));
  const top = Math.max(0, Math.min(seen.row - count + 1 + Math.floor(count / 2), rows.length - count));
  const first = count === rows.length ? 0 : top;
  const lines = rows.slice(first, first + count).map((row, at) => [promptSign(editor, first + at), ...spansOf(row)]);
  if (text === "" && hint !== "")
    lines[0] = [promptSign(editor, 0), { text: sanitizeLine(hint), style: { tone: "muted" } }];
  const found = search === undefined ? [] : [truncate(searchLine(search), editor.columns)];
  return { lines: [...lines, ...found], cursor: { row: seen.row - first, column: seen.column + promptColumns } };
};

const promptSign = (editor: Editor, row: number): StyledSpan => {
  if (row > 0) return { text: "  ", style: {} };
  const isShell = modeOf(editor) === "shell";
  return { text: isShell ? "! " : "> ", style: { tone: isShell ? "warning" : "accent", bold: true } };
};

const spansOf = ({ cells }: TextRow): readonly StyledSpan[] =>
  cells.map(({ shown, isPaste }) => ({ text: shown, style: isPaste ? { tone: "accent", italic: true } : {} }));

const searchLine = ({ query, isFound }: HistorySearch): StyledLine => [
  { text: isFound ? "search: " : "not found: ", style: { tone: isFound ? "muted" : "warning" } },
  { text: sanitizeLine(query), style: {} },
];
