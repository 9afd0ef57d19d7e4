/** The state of the input editor. `cursor` is an offset in `text`, always between two graphemes. */
export type Editor = {
  readonly text: string;
  readonly cursor: number;
  /** Width of a row: up and down move by visual rows. */
  readonly columns: number;
  /** The column that up and down aim for across shorter rows. */
  readonly goalColumn?: number;
  /** Large pastes, each represented by one character in the text. */
  readonly pastes: readonly string[];
  readonly killRing: readonly string[];
  /** The last yank, which yank-older replaces. */
  readonly yanked?: { readonly at: number; readonly index: number };
  readonly undoStack: readonly EditorSnapshot[];
  readonly redoStack: readonly EditorSnapshot[];
  /** The last action: consecutive typing is undone together, consecutive kills are joined. */
  readonly lastAction?: "typing" | "killing" | "yanking" | "moving";
  /** Earlier prompts, as marked texts. */
  readonly history: readonly string[];
  /** The position in the history, counted from its end, and the draft. */
  readonly recall?: { readonly back: number; readonly draft: EditorSnapshot };
  readonly search?: HistorySearch;
};

/** Text and cursor at one time. */
export type EditorSnapshot = { readonly text: string; readonly cursor: number };

/** A backward history search. */
export type HistorySearch = {
  readonly query: string;
  readonly back: number | undefined;
  readonly isFound: boolean;
  readonly before: EditorSnapshot;
};

/** Creates an empty editor. */
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

/** The input mode by the first character: shell command, slash command, memory, or message. */
export const modeOf = ({ text }: Editor): "shell" | "command" | "memory" | "message" => {
  if (text.startsWith("!")) return "shell";
  if (isMemory(text)) return "memory";
  return /^\/[\w-]*(?:\s|$)/.test(text) ? "command" : "message";
};

/** Whether a text is to be remembered: one line after `#`. An issue number and a heading with text below it are messages. */
export const isMemory = (text: string): boolean => /^#(?![\d#])[^\n]*\S[^\n]*$/.test(text);

/** The text with all pastes expanded. */
export const expandedText = ({ text, pastes }: Pick<Editor, "text" | "pastes">): string =>
  text.replaceAll(placeholders, (character) => pastes[placeholderIndex(character)] ?? "");

/** The text as it is kept in the history and in the queue: every paste is there in full, between two marks. */
export const markedText = ({ text, pastes }: Pick<Editor, "text" | "pastes">): string =>
  text.replaceAll(placeholders, (character) => `${pasteStart}${pastes[placeholderIndex(character)] ?? ""}${pasteEnd}`);

/** The marked text of one paste. */
export const markAsPaste = (text: string): string => `${pasteStart}${withoutPlaceholders(text)}${pasteEnd}`;

/** Reads a marked text: pastes become placeholders, of `pastes` or added to them. */
export const readMarkedText = (marked: string, pastes: readonly string[]): Pick<Editor, "text" | "pastes"> => {
  const all = [...pastes];
  const text = marked.replaceAll(markedPaste, (_, paste: string) => {
    const known = all.indexOf(paste);
    return placeholder(known === -1 ? all.push(paste) - 1 : known);
  });
  return { text, pastes: all };
};

/** A marked text with all pastes expanded, as it is sent. */
export const expandMarkedText = (marked: string): string => marked.replaceAll(pasteMarks, "");

/** A marked text with a label for every paste, as it is shown. */
export const labelMarkedText = (marked: string): string => {
  let count = 0;
  return marked.replaceAll(markedPaste, (_, paste: string) => pasteLabel(paste, count++));
};

/** The pastes of a marked text. */
export const pastesOf = (marked: string): readonly string[] =>
  [...marked.matchAll(markedPaste)].map(([, paste = ""]) => paste);

/** The label shown for a large paste. A line break at its end begins no further line. */
export const pasteLabel = (paste: string, index: number): string => {
  const lines = paste.replace(/\n$/, "").split("\n").length;
  return lines > 1 ? `[pasted ${lines} lines #${index + 1}]` : `[pasted ${paste.length} characters #${index + 1}]`;
};

/** The character that represents a paste. It is in the last private use plane, which no script and no icon font uses. */
export const placeholder = (index: number): string => String.fromCodePoint(firstPlaceholder + index);

/** The paste a character represents; undefined for an ordinary one. */
export const pasteIndex = (character: string): number | undefined => {
  const number = placeholderIndex(character);
  return number >= 0 && number < 0xfffc ? number : undefined;
};

/** Replaces characters that would be taken for pastes or their marks. */
export const withoutPlaceholders = (text: string): string => text.replaceAll(reserved, "\ufffd");

const firstPlaceholder = 0x100000;
const placeholders = /[\u{100000}-\u{10fffb}]/gu;
const reserved = /[\u{100000}-\u{10fffd}]/gu;
const pasteStart = "\u{10fffc}";
const pasteEnd = "\u{10fffd}";
const pasteMarks = /[\u{10fffc}\u{10fffd}]/gu;
const markedPaste = /\u{10fffc}([^\u{10fffd}]*)\u{10fffd}/gu;
const placeholderIndex = (character: string): number => (character.codePointAt(0) ?? 0) - firstPlaceholder;
