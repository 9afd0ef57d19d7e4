import type { CallId } from "./parts.ts";

/**
 * The class of a note: `state`, the conversation itself was damaged; `rendering`, something was moved, made up or left
 * out in the transcript; `projection`, a name, id or field was changed to fit one API.
 */
export type NoteClass = "state" | "rendering" | "projection";

/** The kinds of repairs, renames, moves and omissions. */
export type NoteKind =
  | "orphan-result"
  | "duplicate-result"
  | "conflicting-result"
  | "early-result"
  | "rekeyed-result"
  | "reused-id"
  | "malformed-arguments"
  | "cyclic-value"
  | "missing-blob"
  | "unknown-part"
  | "unread-field"
  | "synthetic-result"
  | "moved-result"
  | "moved-text"
  | "text-before-calls"
  | "merged-messages"
  | "thinking-dropped"
  | "thinking-as-text"
  | "media-after"
  | "media-as-text"
  | "media-fetched"
  | "media-stub"
  | "blank-text"
  | "empty-result"
  | "calls-as-text"
  | "neutral-step"
  | "bridge-step"
  | "compacted"
  | "result-shortened"
  | "id-projected"
  | "key-renamed"
  | "media-renamed"
  | "tool-renamed"
  | "signature-filler"
  | "reasoning-backfill"
  | "schema-adapted"
  | "tools-declared"
  | "setting-adapted";

const classes: Readonly<Record<NoteKind, NoteClass>> = {
  "orphan-result": "state",
  "duplicate-result": "state",
  "conflicting-result": "state",
  "early-result": "state",
  "rekeyed-result": "state",
  "reused-id": "state",
  "malformed-arguments": "state",
  "cyclic-value": "state",
  "missing-blob": "state",
  "unknown-part": "state",
  "unread-field": "state",
  "synthetic-result": "rendering",
  "moved-result": "rendering",
  "moved-text": "rendering",
  "text-before-calls": "rendering",
  "merged-messages": "rendering",
  "thinking-dropped": "rendering",
  "thinking-as-text": "rendering",
  "media-after": "rendering",
  "media-as-text": "rendering",
  "media-fetched": "rendering",
  "media-stub": "rendering",
  "blank-text": "rendering",
  "empty-result": "rendering",
  "calls-as-text": "rendering",
  "neutral-step": "rendering",
  "bridge-step": "rendering",
  compacted: "rendering",
  "result-shortened": "rendering",
  "id-projected": "projection",
  "key-renamed": "projection",
  "media-renamed": "projection",
  "tool-renamed": "projection",
  "signature-filler": "projection",
  "reasoning-backfill": "projection",
  "schema-adapted": "projection",
  "tools-declared": "projection",
  "setting-adapted": "projection",
};

/** A statement that something was repaired, renamed, moved or left out in a request, and why. */
export type Note = {
  readonly class: NoteClass;
  readonly kind: NoteKind;
  readonly message: string;
  readonly call?: CallId;
};

/** Returns the class of a note kind. */
export const noteClassOf = (kind: NoteKind): NoteClass => classes[kind];

/** Creates a note; its class follows from its kind. */
export const note = (kind: NoteKind, message: string, call?: CallId): Note =>
  call === undefined ? { class: classes[kind], kind, message } : { class: classes[kind], kind, message, call };
