/** Where a key is pressed: in the input, in a list, or in a question. */
export type KeyContext = "input" | "list" | "question";

/** An action a key does. */
export type KeyAction = {
  readonly name: string;
  readonly context: KeyContext;
  /** Its default keys. The first one is the chord the program itself handles; a user's key is translated to it. */
  readonly keys: readonly [string, ...(readonly string[])];
  readonly about: string;
  /** The text in the key sheet; absent for keys that are not shown there. */
  readonly sheet?: string;
};

/** Every action that keys can be bound to, in the order of the key sheet and the documents. */
export const keyActions: readonly KeyAction[] = [
  {
    name: "send",
    context: "input",
    keys: ["enter"],
    about: "Send. While a turn runs: queue, sent after the current step",
    sheet: "send; during work, queue",
  },
  {
    name: "queue-after-turn",
    context: "input",
    keys: ["tab"],
    about: "While a turn runs: queue, sent after the turn",
    sheet: "queue until the turn ends",
  },
  {
    name: "newline",
    context: "input",
    keys: ["shift+enter", "ctrl+j", "alt+enter", "ctrl+enter"],
    about: "New line (also `\\` and Enter)",
    sheet: "new line (also Ctrl-J)",
  },
  {
    name: "cancel",
    context: "input",
    keys: ["escape"],
    about: "Cancel the turn; twice in an empty input: rewind",
    sheet: "cancel; twice rewinds",
  },
  {
    name: "interrupt",
    context: "input",
    keys: ["ctrl+c"],
    about: "Cancel the turn, or clear the input; quits the second time",
    sheet: "cancel; twice quits",
  },
  { name: "quit", context: "input", keys: ["ctrl+d"], about: "Quit if the input is empty; else delete to the right" },
  {
    name: "rewind",
    context: "input",
    keys: ["ctrl+alt+r"],
    about: "Rewind (`/rewind`): choose a message; it is put back into the input",
  },
  {
    name: "approval-mode",
    context: "input",
    keys: ["shift+tab"],
    about: "Next approval mode",
    sheet: "next approval mode",
  },
  {
    name: "up",
    context: "input",
    keys: ["up"],
    about:
      "Line above, then older prompts, also of earlier sessions; in an empty input: take the last queued message back",
    sheet: "older or queued message",
  },
  { name: "down", context: "input", keys: ["down"], about: "Line below, then newer prompts" },
  {
    name: "history-search",
    context: "input",
    keys: ["ctrl+r"],
    about: "Search the input history; again: next older match",
    sheet: "search the history",
  },
  { name: "history-older", context: "input", keys: ["ctrl+p"], about: "Older prompt" },
  { name: "history-newer", context: "input", keys: ["ctrl+n"], about: "Newer prompt" },
  {
    name: "background",
    context: "input",
    keys: ["ctrl+b"],
    about: "Move a running command or subagent to the background (`/tasks`); else left",
    sheet: "command to the background",
  },
  {
    name: "answer-now",
    context: "input",
    keys: ["ctrl+g"],
    about: "Answer a waiting question now, keeping your draft",
    sheet: "answer a waiting question",
  },
  {
    name: "next-favourite",
    context: "input",
    keys: ["alt+m"],
    about: "Switch to the next model of the setting `favourites`",
    sheet: "next favourite model",
  },
  {
    name: "expand",
    context: "input",
    keys: ["ctrl+o"],
    about: "Expand the pastes of the draft; without any, the collapsed output of the last turn",
    sheet: "expand collapsed output",
  },
  {
    name: "show-thinking",
    context: "input",
    keys: ["alt+t"],
    about: "Show all thinking, or its topic (setting `ui.thinking`)",
    sheet: "show all thinking",
  },
  {
    name: "paste-image",
    context: "input",
    keys: ["ctrl+v"],
    about:
      "Attach the clipboard image (with wl-paste, xclip or pngpaste); pasting the path of an image attaches it, too",
    sheet: "paste an image",
  },
  {
    name: "open-editor",
    context: "input",
    keys: ["ctrl+x"],
    about: "Edit the message in your editor (setting `editor`, or `VISUAL`, `EDITOR`)",
    sheet: "edit in your editor",
  },
  {
    name: "suspend",
    context: "input",
    keys: ["ctrl+z"],
    about: "Suspend to the shell; `fg` continues",
    sheet: "suspend",
  },
  { name: "show-keys", context: "input", keys: ["f1"], about: "Show the key sheet (also `?` in an empty input)" },
  { name: "redraw", context: "input", keys: ["ctrl+l"], about: "Draw the screen again" },
  { name: "left", context: "input", keys: ["left"], about: "Left" },
  { name: "right", context: "input", keys: ["right", "ctrl+f"], about: "Right" },
  { name: "word-left", context: "input", keys: ["alt+left", "ctrl+left", "alt+b"], about: "Left by a word" },
  { name: "word-right", context: "input", keys: ["alt+right", "ctrl+right", "alt+f"], about: "Right by a word" },
  { name: "line-start", context: "input", keys: ["home", "ctrl+a"], about: "Start of the line" },
  { name: "line-end", context: "input", keys: ["end", "ctrl+e"], about: "End of the line" },
  { name: "text-start", context: "input", keys: ["ctrl+home", "alt+<"], about: "Start of the text" },
  { name: "text-end", context: "input", keys: ["ctrl+end", "alt+>"], about: "End of the text" },
  {
    name: "delete-left",
    context: "input",
    keys: ["backspace", "shift+backspace", "ctrl+h"],
    about: "Delete to the left",
  },
  { name: "delete-right", context: "input", keys: ["delete"], about: "Delete to the right" },
  {
    name: "delete-word-left",
    context: "input",
    keys: ["alt+backspace", "ctrl+backspace"],
    about: "Delete a word to the left",
  },
  { name: "delete-to-space", context: "input", keys: ["ctrl+w"], about: "Delete to the left up to a space" },
  {
    name: "delete-word-right",
    context: "input",
    keys: ["alt+d", "alt+delete", "ctrl+delete"],
    about: "Delete a word to the right",
  },
  { name: "delete-to-line-start", context: "input", keys: ["ctrl+u"], about: "Delete to the start of the line" },
  { name: "delete-to-line-end", context: "input", keys: ["ctrl+k"], about: "Delete to the end of the line" },
  { name: "yank", context: "input", keys: ["ctrl+y"], about: "Insert what was deleted last" },
  { name: "yank-older", context: "input", keys: ["alt+y"], about: "Replace that by an older deletion" },
  { name: "undo", context: "input", keys: ["ctrl+_", "ctrl+/", "alt+z"], about: "Undo" },
  { name: "redo", context: "input", keys: ["alt+_", "alt+shift+z", "ctrl+shift+z"], about: "Redo" },
  { name: "list-up", context: "list", keys: ["up", "ctrl+p", "shift+tab"], about: "Option above" },
  { name: "list-down", context: "list", keys: ["down", "ctrl+n", "tab"], about: "Option below" },
  { name: "list-page-up", context: "list", keys: ["pageup"], about: "Ten options up" },
  { name: "list-page-down", context: "list", keys: ["pagedown"], about: "Ten options down" },
  { name: "list-first", context: "list", keys: ["home"], about: "First option" },
  { name: "list-last", context: "list", keys: ["end"], about: "Last option" },
  { name: "list-delete-left", context: "list", keys: ["backspace"], about: "Delete a character of the filter" },
  { name: "list-clear", context: "list", keys: ["ctrl+u"], about: "Clear the filter" },
  { name: "list-cancel", context: "list", keys: ["escape", "ctrl+c"], about: "Close the list" },
  { name: "question-up", context: "question", keys: ["up"], about: "Answer or field above" },
  { name: "question-down", context: "question", keys: ["down"], about: "Answer or field below" },
  { name: "question-next", context: "question", keys: ["tab"], about: "Add a reason to a no; next answer or field" },
  { name: "question-previous", context: "question", keys: ["shift+tab"], about: "Previous answer or field" },
  {
    name: "question-delete-left",
    context: "question",
    keys: ["backspace"],
    about: "Delete a character of what you type in it",
  },
  { name: "question-clear", context: "question", keys: ["ctrl+u"], about: "Clear what you typed in it" },
  { name: "question-cancel", context: "question", keys: ["escape"], about: "Leave it, or cancel the turn" },
];

/** Keys no file can take away: the first four so that a person can always send, cancel and quit; Enter also answers. */
export const fixedKeys: Readonly<Record<KeyContext, ReadonlySet<string>>> = {
  input: new Set(["escape", "ctrl+c", "ctrl+d"]),
  list: new Set(["enter", "escape", "ctrl+c"]),
  question: new Set(["enter", "escape", "ctrl+c"]),
};

/** A chord as people read it: `Ctrl-O`, `Shift-Tab`, `Esc`. */
export const chordLabel = (chord: string): string =>
  chord
    .split(/\+(?!$)/)
    .map((part) => keyLabels[part] ?? part.charAt(0).toUpperCase() + part.slice(1))
    .join("-");

const keyLabels: Readonly<Record<string, string>> = {
  escape: "Esc",
  pageup: "PageUp",
  pagedown: "PageDown",
};
