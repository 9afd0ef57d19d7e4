import type { EditAction } from "./action.ts";
import { type Editor, type EditorSnapshot, markedText, readMarkedText } from "./state.ts";

/** Recalls older and newer history entries. The draft is kept as the newest. */
export const recallHistory = (editor: Editor, direction: "older" | "newer"): Editor => {
  const { history, recall } = editor;
  const back = (recall?.back ?? 0) + (direction === "older" ? 1 : -1);
  const draft = recall?.draft ?? snapshotOf(editor);
  if (back < 0 || back > history.length) return editor;
  const saved = isRecalledEdited(editor)
    ? { ...editor, undoStack: [...editor.undoStack, snapshotOf(editor)], redoStack: [] }
    : editor;
  if (back === 0) return withText(withoutRecall(saved), draft);
  return { ...withMarkedText(saved, history[history.length - back] ?? ""), recall: { back, draft } };
};

/** Whether a recalled entry was edited: undo can restore the edit. */
const isRecalledEdited = (editor: Editor): boolean =>
  editor.recall !== undefined && markedText(editor) !== editor.history[editor.history.length - editor.recall.back];

const snapshotOf = ({ text, cursor }: Editor): EditorSnapshot => ({ text, cursor });

/** Applies an action during a history search; undefined if the action ends the search. */
export const searchHistory = (editor: Editor, action: EditAction): Editor | undefined => {
  const { search } = editor;
  if (search === undefined) return undefined;
  switch (action.type) {
    case "insert":
      return findInHistory(editor, search.query + action.text, search.back ?? 1);
    case "search":
      return findInHistory(editor, search.query, (search.back ?? 0) + 1);
    case "delete":
      return action.to === "left" ? findInHistory(editor, search.query.slice(0, -1), 1) : undefined;
    case "cancel-search":
      return withText(withoutSearch(editor), search.before);
    case "accept-search":
      return withoutSearch(editor);
    case "resize":
      return { ...editor, columns: action.columns };
    case "paste":
    case "newline":
    case "move":
    case "up":
    case "down":
    case "kill":
    case "yank":
    case "yank-older":
    case "undo":
    case "redo":
    case "older":
    case "newer":
    case "replace":
    case "restore":
    case "unfold":
    case "complete":
    case "clear":
      return undefined;
  }
};

/** Finds the newest entry that contains the query, from a position on. Without one, the previous match stays. */
const findInHistory = (editor: Editor, query: string, from: number): Editor => {
  const { history, search } = editor;
  if (search === undefined) return editor;
  const wanted = query.toLowerCase();
  for (let back = from; back <= history.length && query !== ""; back++) {
    const text = history[history.length - back] ?? "";
    const at = text.toLowerCase().lastIndexOf(wanted);
    if (at === -1) continue;
    const found = withMarkedText(editor, text);
    const cursor = found.text === text ? at : found.cursor;
    return { ...found, cursor, search: { ...search, query, back, isFound: true } };
  }
  if (query === "")
    return { ...withText(editor, search.before), search: { ...search, query, back: undefined, isFound: true } };
  return { ...editor, search: { ...search, query, isFound: false } };
};

const withText = (editor: Editor, snapshot: EditorSnapshot): Editor => {
  const { goalColumn: _goal, ...rest } = editor;
  return { ...rest, ...snapshot, lastAction: "moving" };
};

/** Replaces the text by a marked one, with the cursor at its end. */
const withMarkedText = (editor: Editor, marked: string): Editor => {
  const { text, pastes } = readMarkedText(marked, editor.pastes);
  return { ...withText(editor, { text, cursor: text.length }), pastes };
};

const withoutRecall = ({ recall: _recall, ...rest }: Editor): Editor => rest;

const withoutSearch = ({ search: _search, ...rest }: Editor): Editor => rest;
