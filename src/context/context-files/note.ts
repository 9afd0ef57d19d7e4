/** Something a person should know about the files that were read for them, or were not. */
export type ContextNote = { readonly kind: ContextNoteKind; readonly path: string; readonly text: string };

/** What can be said of a file. */
export type ContextNoteKind = keyof typeof sentences;

/** A note, in words for the person. */
export const createContextNote = (kind: ContextNoteKind, path: string): ContextNote => ({
  kind,
  path,
  text: `${path}: ${sentences[kind]}`,
});

const sentences = {
  untrusted: "none of its context files is read, because the folder is not trusted.",
  outside: "not read, because it leads out of the project.",
  kept: "not read, because an ignore file keeps it from models.",
  "not-text": "not read, because it is not text.",
  unreadable: "not read, because it cannot be opened.",
  absent: "imported, but there is no such file.",
  cycle: "imported by a file that it imports itself; it is read once.",
  deep: "not read, because the imports that lead to it are nested too deeply.",
  same: "left out, because another file says the same.",
  cut: "only its beginning is read, because it is too long.",
  full: "left out, because the files before it are long enough.",
  unseen: "held characters that cannot be seen or that turn the direction of reading; they were taken out or marked.",
} as const;
