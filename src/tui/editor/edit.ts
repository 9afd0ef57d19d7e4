import type { Action, Target } from "./action.ts";
import { blankLeft, leftOf, lineEnd, lineStart, rightOf, wordLeft, wordRight } from "./place.ts";
import { inHistory, inSearch } from "./recall.ts";
import { editorRows, placeAt, seenAt } from "./rows.ts";
import { type Editor, type Moment, placeholder, withoutPlaceholders } from "./state.ts";

/** Pastes of more lines, or more letters, are folded. */
const foldedFrom = { lines: 6, letters: 1000 };

/** How many steps can be undone. */
const mostSteps = 500;

/** What an action makes of the editor. Nothing is ever lost that was not asked to go: every change can be undone. */
export const edit = (editor: Editor, action: Action): Editor => {
  if (editor.search !== undefined) {
    const searched = inSearch(editor, action);
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
      return moved(editor, targetOf(editor, action.to));
    case "up":
      return vertically(editor, -1);
    case "down":
      return vertically(editor, 1);
    case "delete":
      return changed(editor, removed(editor, targetOf(editor, action.to)), undefined);
    case "kill":
      return kill(editor, targetOf(editor, action.to));
    case "yank":
      return yank(editor, 0);
    case "yank-older":
      return yankOlder(editor);
    case "undo":
      return travel(editor, "past");
    case "redo":
      return travel(editor, "future");
    case "older":
    case "newer":
      return inHistory(editor, action.type);
    case "search":
      return { ...editor, search: { query: "", back: undefined, isFound: true, before: momentOf(editor) } };
    case "accept-search":
    case "cancel-search":
      return editor;
    case "replace":
      return complete(editor, { start: 0, end: editor.text.length, text: action.text });
    case "complete":
      return complete(editor, action);
    case "clear":
      return changed(editor, { text: "", cursor: 0 }, undefined);
    case "resize":
      return { ...editor, columns: action.columns };
  }
};

const withoutSearch = ({ search: _search, ...rest }: Editor): Editor => rest;

const momentOf = ({ text, cursor }: Editor): Moment => ({ text, cursor });

/** A new text, with the old one kept for undo. Typing goes on in one step until something else is done. */
const changed = (editor: Editor, next: Moment, last: Editor["last"]): Editor => {
  if (next.text === editor.text) return moved(editor, next.cursor);
  const { goal: _goal, yanked: _yanked, last: before, ...rest } = editor;
  const isSameStep = last === "typing" && before === "typing" && editor.past.length > 0;
  return {
    ...rest,
    ...next,
    past: isSameStep ? editor.past : [...editor.past.slice(1 - mostSteps), momentOf(editor)],
    future: [],
    ...(last === undefined ? {} : { last }),
  };
};

const insert = (editor: Editor, text: string, last: Editor["last"]): Editor => {
  const before = editor.text.slice(0, editor.cursor) + text;
  // A space ends a step, so that undo goes back word by word.
  const step =
    last === "typing" && /\s$/.test(editor.text.slice(0, editor.cursor))
      ? { ...editor, last: "moving" as const }
      : editor;
  return changed(step, { text: before + editor.text.slice(editor.cursor), cursor: before.length }, last);
};

const paste = (editor: Editor, text: string): Editor => {
  const pasted = withoutPlaceholders(text);
  const isLarge = pasted.length > foldedFrom.letters || pasted.split("\n").length > foldedFrom.lines;
  if (!isLarge) return insert(editor, pasted, undefined);
  const index = editor.pastes.length;
  return insert({ ...editor, pastes: [...editor.pastes, pasted] }, placeholder(index), undefined);
};

const moved = (editor: Editor, cursor: number): Editor => {
  const { goal: _goal, yanked: _yanked, ...rest } = editor;
  return { ...rest, cursor, last: "moving" };
};

const targetOf = ({ text, cursor }: Editor, target: Target): number => {
  switch (target) {
    case "left":
      return leftOf(text, cursor);
    case "right":
      return rightOf(text, cursor);
    case "word-left":
      return wordLeft(text, cursor);
    case "word-right":
      return wordRight(text, cursor);
    case "blank-left":
      return blankLeft(text, cursor);
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

/** Up and down by rows; from the first and last row, into the history. */
const vertically = (editor: Editor, by: 1 | -1): Editor => {
  const rows = editorRows(editor);
  const seen = seenAt(rows, editor.cursor);
  const row = rows[seen.row + by];
  if (row === undefined) return inHistory(editor, by < 0 ? "older" : "newer");
  const goal = editor.goal ?? seen.column;
  return { ...moved(editor, placeAt(row, goal)), goal };
};

const removed = ({ text, cursor }: Editor, target: number): Moment => {
  const [from, to] = [Math.min(cursor, target), Math.max(cursor, target)];
  return { text: text.slice(0, from) + text.slice(to), cursor: from };
};

/** Kills in a row are one: backwards before what was killed, forwards after it. */
const kill = (editor: Editor, target: number): Editor => {
  const { text, cursor } = editor;
  const isAtEnd = target === cursor && text.charAt(cursor) === "\n";
  const to = isAtEnd ? cursor + 1 : target;
  const piece = text.slice(Math.min(cursor, to), Math.max(cursor, to));
  if (piece === "") return editor;
  const [first, ...others] = editor.kills;
  const grown = to < cursor ? piece + (first ?? "") : (first ?? "") + piece;
  const kills = editor.last === "killing" ? [grown, ...others] : [piece, ...editor.kills].slice(0, 30);
  return { ...changed(editor, removed(editor, to), "killing"), kills };
};

const yank = (editor: Editor, index: number): Editor => {
  const text = editor.kills[index];
  if (text === undefined) return editor;
  return { ...insert(editor, text, "yanking"), yanked: { at: editor.cursor, index } };
};

const yankOlder = (editor: Editor): Editor => {
  const { yanked, kills, cursor } = editor;
  if (yanked === undefined) return editor;
  return yank({ ...editor, ...removed({ ...editor, cursor }, yanked.at) }, (yanked.index + 1) % kills.length);
};

const travel = (editor: Editor, where: "past" | "future"): Editor => {
  const moment = editor[where].at(-1);
  if (moment === undefined) return editor;
  const [past, future] =
    where === "past"
      ? [editor.past.slice(0, -1), [...editor.future, momentOf(editor)]]
      : [[...editor.past, momentOf(editor)], editor.future.slice(0, -1)];
  return { ...moved(editor, moment.cursor), text: moment.text, past, future };
};

const complete = (
  editor: Editor,
  { start, end, text }: { readonly start: number; readonly end: number; readonly text: string },
): Editor => {
  const before = editor.text.slice(0, start) + withoutPlaceholders(text);
  return changed(editor, { text: before + editor.text.slice(end), cursor: before.length }, undefined);
};
