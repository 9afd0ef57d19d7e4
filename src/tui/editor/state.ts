/** What a person writes, and everything needed to go on writing. `cursor` is a place in `text`, always between two letters. */
export type Editor = {
  readonly text: string;
  readonly cursor: number;
  /** How wide a row is: up and down go by what is seen. */
  readonly columns: number;
  /** Where up and down want to be, when shorter rows lie between. */
  readonly goalColumn?: number;
  /** Large pastes, each standing as one letter in the text. */
  readonly pastes: readonly string[];
  readonly killRing: readonly string[];
  /** What was yanked last, to be replaced by an older kill. */
  readonly yanked?: { readonly at: number; readonly index: number };
  readonly undoStack: readonly EditorSnapshot[];
  readonly redoStack: readonly EditorSnapshot[];
  /** What was done last: letters typed in a row are undone together, kills in a row are one. */
  readonly lastAction?: "typing" | "killing" | "yanking" | "moving";
  readonly history: readonly string[];
  /** Where in the history, counted back from its end, and what was being written before. */
  readonly recall?: { readonly back: number; readonly draft: EditorSnapshot };
  readonly search?: HistorySearch;
};

/** The text and the cursor at some time. */
export type EditorSnapshot = { readonly text: string; readonly cursor: number };

/** A search in the history, backwards. */
export type HistorySearch = {
  readonly query: string;
  readonly back: number | undefined;
  readonly isFound: boolean;
  readonly before: EditorSnapshot;
};

/** An editor with nothing in it. */
export const emptyEditor = (history: readonly string[] = [], columns = 80): Editor => ({
  text: "",
  cursor: 0,
  columns,
  pastes: [],
  killRing: [],
  undoStack: [],
  redoStack: [],
  history,
});

/** What the first letter makes of the text: a line for the shell, a command of the program, or a message. */
export const modeOf = ({ text }: Editor): "shell" | "command" | "message" => {
  if (text.startsWith("!")) return "shell";
  return /^\/[\w-]*(?:\s|$)/.test(text) ? "command" : "message";
};

/** What the person has written, with all pastes in full. */
export const expandedText = ({ text, pastes }: Pick<Editor, "text" | "pastes">): string =>
  text.replaceAll(placeholders, (letter) => pastes[placeholderIndex(letter)] ?? "");

/** How a large paste is shown. */
export const pasteLabel = (paste: string, index: number): string => {
  const lines = paste.split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines #${index + 1}]` : `[pasted ${paste.length} characters #${index + 1}]`;
};

/** The letter that stands for a paste. It is of the last private plane, which no script and no icon font uses. */
export const placeholder = (index: number): string => String.fromCodePoint(firstPlaceholder + index);

/** The paste a letter stands for, or undefined when it is an ordinary letter. */
export const pasteIndex = (letter: string): number | undefined => {
  const number = placeholderIndex(letter);
  return number >= 0 && number < 0xfffe ? number : undefined;
};

/** A text without letters that would be taken for pastes. */
export const withoutPlaceholders = (text: string): string => text.replaceAll(placeholders, "\ufffd");

const firstPlaceholder = 0x100000;
const placeholders = /[\u{100000}-\u{10fffd}]/gu;
const placeholderIndex = (letter: string): number => (letter.codePointAt(0) ?? 0) - firstPlaceholder;
