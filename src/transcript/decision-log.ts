import { note, type Note, type NoteKind } from "../conversation/notes.ts";
import type { CallId } from "../conversation/parts.ts";

/** A note, with the index of the entry it is about, where it is about one. */
export type PlacedNote = { readonly note: Note; readonly entry?: number };

/** Adds a note. */
export type AddNote = (kind: NoteKind, message: string, call?: CallId) => void;

/**
 * The notes of one rendering. A long history makes many and few are ever read, so the note objects are created only
 * when they are asked for.
 */
export class DecisionLog {
  /** The entry that is rendered now; notes are about it. */
  entry: number | undefined;
  readonly #kinds: NoteKind[] = [];
  readonly #messages: string[] = [];
  readonly #calls: (CallId | undefined)[] = [];
  readonly #entries: (number | undefined)[] = [];

  readonly add: AddNote = (kind, message, call) => {
    this.#kinds.push(kind);
    this.#messages.push(message);
    this.#calls.push(call);
    this.#entries.push(this.entry);
  };

  get count(): number {
    return this.#kinds.length;
  }

  /** Drops all but the first `count` notes. */
  truncate(count: number): void {
    this.#kinds.length = count;
    this.#messages.length = count;
    this.#calls.length = count;
    this.#entries.length = count;
  }

  some(wanted: (kind: NoteKind) => boolean): boolean {
    return this.#kinds.some(wanted);
  }

  notes(): readonly Note[] {
    return this.#kinds.map((kind, index) => note(kind, this.#messages[index]!, this.#calls[index]));
  }

  /** Returns the notes with the entries they are about. */
  placedNotes(): readonly PlacedNote[] {
    return this.notes().map((made, index) => {
      const entry = this.#entries[index];
      return entry === undefined ? { note: made } : { note: made, entry };
    });
  }
}
