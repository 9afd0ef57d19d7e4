import type { Action } from "./action.ts";
import type { Editor, Moment } from "./state.ts";

/** Older and newer entries of the history. What was being written is kept, and is the newest. */
export const inHistory = (editor: Editor, direction: "older" | "newer"): Editor => {
  const { history, recall } = editor;
  const back = (recall?.back ?? 0) + (direction === "older" ? 1 : -1);
  const draft = recall?.draft ?? momentOf(editor);
  if (back < 0 || back > history.length) return editor;
  const kept = isEdited(editor) ? { ...editor, past: [...editor.past, momentOf(editor)], future: [] } : editor;
  if (back === 0) return shown(withoutRecall(kept), draft);
  const text = history[history.length - back] ?? "";
  return { ...shown(kept, { text, cursor: text.length }), recall: { back, draft } };
};

/** Whether an entry of the history was changed after it was called back: undo brings that back. */
const isEdited = ({ text, history, recall }: Editor): boolean =>
  recall !== undefined && text !== history[history.length - recall.back];

const momentOf = ({ text, cursor }: Editor): Moment => ({ text, cursor });

/** What an action does during a search; undefined when it ends the search and does its own work. */
export const inSearch = (editor: Editor, action: Action): Editor | undefined => {
  const { search } = editor;
  if (search === undefined) return undefined;
  switch (action.type) {
    case "insert":
      return found(editor, search.query + action.text, search.back ?? 1);
    case "search":
      return found(editor, search.query, (search.back ?? 0) + 1);
    case "delete":
      return action.to === "left" ? found(editor, search.query.slice(0, -1), 1) : undefined;
    case "cancel-search":
      return shown(withoutSearch(editor), search.before);
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
    case "complete":
    case "clear":
      return undefined;
  }
};

/** The newest entry that holds the query, from a place in the history on. Without one, what was found before stays. */
const found = (editor: Editor, query: string, from: number): Editor => {
  const { history, search } = editor;
  if (search === undefined) return editor;
  const wanted = query.toLowerCase();
  for (let back = from; back <= history.length && query !== ""; back++) {
    const text = history[history.length - back] ?? "";
    const at = text.toLowerCase().lastIndexOf(wanted);
    if (at !== -1) return { ...shown(editor, { text, cursor: at }), search: { ...search, query, back, isFound: true } };
  }
  if (query === "")
    return { ...shown(editor, search.before), search: { ...search, query, back: undefined, isFound: true } };
  return { ...editor, search: { ...search, query, isFound: false } };
};

const shown = (editor: Editor, moment: Moment): Editor => {
  const { goal: _goal, ...rest } = editor;
  return { ...rest, ...moment, last: "moving" };
};

const withoutRecall = ({ recall: _recall, ...rest }: Editor): Editor => rest;

const withoutSearch = ({ search: _search, ...rest }: Editor): Editor => rest;
