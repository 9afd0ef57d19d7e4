import type { KeyEvent } from "../keys/key-event.ts";
import type { EditAction, MoveTarget } from "./action.ts";
import { edit } from "./edit.ts";
import { emptyEditor, type Editor, expandedText, markedText } from "./state.ts";

/** A request of a key beyond editing. */
export type EditorRequest =
  /** Sends a marked text. While a turn runs it is queued: after the current step, or after the turn. */
  | { readonly type: "submit"; readonly text: string; readonly sendAfter: SendAfter }
  /** Takes the last queued message back into the input. */
  | { readonly type: "take-back" }
  | { readonly type: "cancel" }
  | { readonly type: "quit" }
  | { readonly type: "suspend" }
  | { readonly type: "redraw" }
  /** Opens the text in the user's editor; the result comes back as a `replace` action. */
  | { readonly type: "open-editor"; readonly text: string };

/** When a message submitted during a turn is sent. */
export type SendAfter = "step" | "turn";

/** The editor after a key, and the key's request. */
export type KeyResult = { readonly editor: Editor; readonly request?: EditorRequest };

/** Handles a key. */
export const handleKey = (editor: Editor, event: KeyEvent): KeyResult => {
  switch (event.type) {
    case "text":
      return { editor: edit(editor, { type: "insert", text: event.text }) };
    case "paste":
      return { editor: edit(editor, { type: "paste", text: event.text }) };
    case "focus":
    case "reply":
      return { editor };
    case "key":
      return handleChord(editor, event.chord);
  }
};

const handleChord = (editor: Editor, name: string): KeyResult => {
  if (editor.search !== undefined && (name === "enter" || name === "tab"))
    return { editor: edit(editor, { type: "accept-search" }) };
  if (editor.search !== undefined && ["escape", "ctrl+g", "ctrl+c"].includes(name))
    return { editor: edit(editor, { type: "cancel-search" }) };
  const action = keyBindings[name];
  if (action !== undefined) return { editor: edit(editor, action) };
  switch (name) {
    case "enter":
      return handleEnter(editor);
    case "tab":
      return submit(editor, "turn");
    case "ctrl+d":
      return editor.text === ""
        ? { editor, request: { type: "quit" } }
        : { editor: edit(editor, { type: "delete", to: "right" }) };
    case "ctrl+c":
    case "escape":
      return { editor, request: { type: "cancel" } };
    case "ctrl+z":
      return { editor, request: { type: "suspend" } };
    case "ctrl+l":
      return { editor, request: { type: "redraw" } };
    case "ctrl+x":
    case "ctrl+o":
      return { editor, request: { type: "open-editor", text: expandedText(editor) } };
  }
  return { editor };
};

/** A backslash before the cursor makes Enter insert a newline, for terminals that do not report Shift-Enter. */
const handleEnter = (editor: Editor): KeyResult => {
  const { text, cursor } = editor;
  if (text.charAt(cursor - 1) === "\\")
    return { editor: edit(editor, { type: "complete", start: cursor - 1, end: cursor, text: "\n" }) };
  return submit(editor, "step");
};

const submit = (editor: Editor, sendAfter: SendAfter): KeyResult => {
  if (expandedText(editor).trim() === "") return { editor };
  const marked = markedText(editor);
  const { history } = editor;
  return {
    editor: {
      ...emptyEditor(history.at(-1) === marked ? history : [...history, marked], editor.columns),
      killRing: editor.killRing,
    },
    request: { type: "submit", text: marked, sendAfter },
  };
};

const move = (to: MoveTarget): EditAction => ({ type: "move", to });
const remove = (to: MoveTarget): EditAction => ({ type: "delete", to });
const kill = (to: MoveTarget): EditAction => ({ type: "kill", to });
const newline: EditAction = { type: "newline" };

/** Key bindings that only edit. */
const keyBindings: Readonly<Record<string, EditAction>> = {
  "shift+enter": newline,
  "alt+enter": newline,
  "ctrl+enter": newline,
  "ctrl+j": newline,
  left: move("left"),
  "ctrl+b": move("left"),
  right: move("right"),
  "ctrl+f": move("right"),
  "alt+left": move("word-left"),
  "ctrl+left": move("word-left"),
  "alt+b": move("word-left"),
  "alt+right": move("word-right"),
  "ctrl+right": move("word-right"),
  "alt+f": move("word-right"),
  home: move("line-start"),
  "ctrl+a": move("line-start"),
  end: move("line-end"),
  "ctrl+e": move("line-end"),
  "ctrl+home": move("start"),
  "alt+<": move("start"),
  "ctrl+end": move("end"),
  "alt+>": move("end"),
  up: { type: "up" },
  down: { type: "down" },
  "ctrl+p": { type: "older" },
  "ctrl+n": { type: "newer" },
  backspace: remove("left"),
  "shift+backspace": remove("left"),
  "ctrl+h": remove("left"),
  delete: remove("right"),
  "ctrl+w": kill("space-left"),
  "alt+backspace": kill("word-left"),
  "ctrl+backspace": kill("word-left"),
  "alt+d": kill("word-right"),
  "alt+delete": kill("word-right"),
  "ctrl+delete": kill("word-right"),
  "ctrl+u": kill("line-start"),
  "ctrl+k": kill("line-end"),
  "ctrl+y": { type: "yank" },
  "alt+y": { type: "yank-older" },
  "ctrl+_": { type: "undo" },
  "ctrl+/": { type: "undo" },
  "alt+z": { type: "undo" },
  "alt+_": { type: "redo" },
  "alt+shift+z": { type: "redo" },
  "ctrl+shift+z": { type: "redo" },
  "ctrl+r": { type: "search" },
};
