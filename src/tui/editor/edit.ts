import type { EditAction, MoveTarget } from "./action.ts";
import { spaceLeft, leftOf, lineEnd, lineStart, rightOf, wordLeft, wordRight } from "./cursor-movement.ts";
import { recallHistory, searchHistory } from "./history-search.ts";
import { editorRows, offsetAt, positionOf } from "./layout.ts";
import {
  type Editor,
  type EditorSnapshot,
  expandedText,
  placeholder,
  readMarkedText,
  withoutPlaceholders,
} from "./state.ts";

/** Pastes with more lines or characters than this are collapsed. */
const collapsePasteOver = { lines: 6, characters: 1000 };

/** Whether a pasted text is shown as a label. */
export const isLargeText = (text: string): boolean =>
  text.length > collapsePasteOver.characters || text.split("\n").length > collapsePasteOver.lines;

/** Limit of undo steps. */
const maxUndoSteps = 500;

/** Applies an action to the editor. Every change can be undone. */
export const edit = (editor: Editor, action: EditAction): Editor => {
  if (editor.search !== undefined) {
    const searched = searchHistory(editor, action);
    if (searched !== undefined) return searched;
    return edit(withoutSearch(editor), action);
  }
  switch (action.type) {
    case "insert":
      return insert(editor, withoutPlaceholders(action.text), "typing");
    case "newline":
      return insert(editor, "\n", undefined);
    case "paste":
      return paste(editor, action.text);
    case "move":
      return withCursor(editor, targetPosition(editor, action.to));
    case "up":
      return moveVertically(editor, -1);
    case "down":
      return moveVertically(editor, 1);
    case "delete":
      return withChange(editor, removeRange(editor, targetPosition(editor, action.to)), undefined);
    case "kill":
      return kill(editor, targetPosition(editor, action.to));
    case "yank":
      return yank(editor, 0);
    case "yank-older":
      return yankOlder(editor);
    case "undo":
      return undoOrRedo(editor, "undoStack");
    case "redo":
      return undoOrRedo(editor, "redoStack");
    case "older":
    case "newer":
      return recallHistory(editor, action.type);
    case "search":
      return { ...editor, search: { query: "", back: undefined, isFound: true, before: snapshotOf(editor) } };
    case "accept-search":
    case "cancel-search":
      return editor;
    case "replace":
      return complete(editor, { start: 0, end: editor.text.length, text: action.text });
    case "restore":
      return restore(editor, action.marked);
    case "unfold":
      return complete(editor, { start: 0, end: editor.text.length, text: expandedText(editor) });
    case "complete":
      return complete(editor, action);
    case "clear":
      return withChange(editor, { text: "", cursor: 0 }, undefined);
    case "resize":
      return { ...editor, columns: action.columns };
  }
};

const withoutSearch = ({ search: _search, ...rest }: Editor): Editor => rest;

const snapshotOf = ({ text, cursor }: Editor): EditorSnapshot => ({ text, cursor });

/** Sets a new text and keeps the old one for undo. Consecutive typing is one undo step. */
const withChange = (editor: Editor, next: EditorSnapshot, action: Editor["lastAction"]): Editor => {
  if (next.text === editor.text) return withCursor(editor, next.cursor);
  const { goalColumn: _goal, yanked: _yanked, lastAction, ...rest } = editor;
  const isSameStep = action === "typing" && lastAction === "typing" && editor.undoStack.length > 0;
  return {
    ...rest,
    ...next,
    undoStack: isSameStep ? editor.undoStack : [...editor.undoStack.slice(1 - maxUndoSteps), snapshotOf(editor)],
    redoStack: [],
    ...(action === undefined ? {} : { lastAction: action }),
  };
};

const insert = (editor: Editor, text: string, action: Editor["lastAction"]): Editor => {
  const before = editor.text.slice(0, editor.cursor) + text;
  // A space ends an undo step, so that undo works word by word.
  const step =
    action === "typing" && /\s$/.test(editor.text.slice(0, editor.cursor))
      ? { ...editor, lastAction: "moving" as const }
      : editor;
  return withChange(step, { text: before + editor.text.slice(editor.cursor), cursor: before.length }, action);
};

const paste = (editor: Editor, text: string): Editor => {
  const pasted = withoutPlaceholders(text);
  if (!isLargeText(pasted)) return insert(editor, pasted, undefined);
  const index = editor.pastes.length;
  return insert({ ...editor, pastes: [...editor.pastes, pasted] }, placeholder(index), undefined);
};

const restore = (editor: Editor, marked: string): Editor => {
  const { text, pastes } = readMarkedText(marked, editor.pastes);
  const joined = editor.text === "" ? text : `${text}\n\n${editor.text}`;
  return withChange({ ...editor, pastes }, { text: joined, cursor: joined.length }, undefined);
};

const withCursor = (editor: Editor, cursor: number): Editor => {
  const { goalColumn: _goal, yanked: _yanked, ...rest } = editor;
  return { ...rest, cursor, lastAction: "moving" };
};

const targetPosition = ({ text, cursor }: Editor, target: MoveTarget): number => {
  switch (target) {
    case "left":
      return leftOf(text, cursor);
    case "right":
      return rightOf(text, cursor);
    case "word-left":
      return wordLeft(text, cursor);
    case "word-right":
      return wordRight(text, cursor);
    case "space-left":
      return spaceLeft(text, cursor);
    case "line-start":
      return lineStart(text, cursor);
    case "line-end":
      return lineEnd(text, cursor);
    case "start":
      return 0;
    case "end":
      return text.length;
  }
};

/** Moves up or down by visual rows; beyond the first or last row, through the history. */
const moveVertically = (editor: Editor, by: 1 | -1): Editor => {
  const rows = editorRows(editor);
  const position = positionOf(rows, editor.cursor);
  const row = rows[position.row + by];
  if (row === undefined) return recallHistory(editor, by < 0 ? "older" : "newer");
  const goalColumn = editor.goalColumn ?? position.column;
  return { ...withCursor(editor, offsetAt(row, goalColumn)), goalColumn };
};

const removeRange = ({ text, cursor }: Editor, target: number): EditorSnapshot => {
  const [from, to] = [Math.min(cursor, target), Math.max(cursor, target)];
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
};

/** Kills text. Consecutive kills are joined: backwards before the earlier text, forwards after it. */
const kill = (editor: Editor, target: number): Editor => {
  const { text, cursor } = editor;
  const isAtEnd = target === cursor && text.charAt(cursor) === "\n";
  const to = isAtEnd ? cursor + 1 : target;
  const piece = text.slice(Math.min(cursor, to), Math.max(cursor, to));
  if (piece === "") return editor;
  const [first, ...others] = editor.killRing;
  const grown = to < cursor ? piece + (first ?? "") : (first ?? "") + piece;
  const kills = editor.lastAction === "killing" ? [grown, ...others] : [piece, ...editor.killRing].slice(0, 30);
  return { ...withChange(editor, removeRange(editor, to), "killing"), killRing: kills };
};

const yank = (editor: Editor, index: number): Editor => {
  const text = editor.killRing[index];
  if (text === undefined) return editor;
  return { ...insert(editor, text, "yanking"), yanked: { at: editor.cursor, index } };
};

const yankOlder = (editor: Editor): Editor => {
  const { yanked, killRing, cursor } = editor;
  if (yanked === undefined) return editor;
  return yank({ ...editor, ...removeRange({ ...editor, cursor }, yanked.at) }, (yanked.index + 1) % killRing.length);
};

const undoOrRedo = (editor: Editor, from: "undoStack" | "redoStack"): Editor => {
  const snapshot = editor[from].at(-1);
  if (snapshot === undefined) return editor;
  const [undoStack, redoStack] =
    from === "undoStack"
      ? [editor.undoStack.slice(0, -1), [...editor.redoStack, snapshotOf(editor)]]
      : [[...editor.undoStack, snapshotOf(editor)], editor.redoStack.slice(0, -1)];
  return { ...withCursor(editor, snapshot.cursor), text: snapshot.text, undoStack, redoStack };
};

const complete = (
  editor: Editor,
  { start, end, text }: { readonly start: number; readonly end: number; readonly text: string },
): Editor => {
  const before = editor.text.slice(0, start) + withoutPlaceholders(text);
  return withChange(editor, { text: before + editor.text.slice(end), cursor: before.length }, undefined);
};
