/** A note for the user about a context file that was skipped, cut or changed. */
export type ContextNote = { readonly kind: ContextNoteKind; readonly path: string; readonly text: string };

export type ContextNoteKind = keyof typeof sentences;

/** Creates a note with its message. */
export const createContextNote = (kind: ContextNoteKind, path: string): ContextNote => ({
  kind,
  path,
  text: `${path}: ${sentences[kind]}`,
});

const sentences = {
  untrusted: "context files not read: the folder is not trusted.",
  outside: "not read: it is outside the project.",
  ignored: "not read: excluded by an ignore file.",
  "not-text": "not read: it is not text.",
  unreadable: "not read: it cannot be opened.",
  absent: "imported, but does not exist.",
  cycle: "import cycle; read once.",
  deep: "not read: imports are nested too deeply.",
  same: "left out: another file has the same text.",
  cut: "cut: the file is too long.",
  full: "left out: the limit for context files is reached.",
  invisible: "contained invisible or direction-changing characters; they were removed or marked.",
} as const;
