import type { Blobs } from "../../conversation/entry.ts";
import { DiskError, type AppendHandle, type Folder } from "../../world/disk.ts";
import type { Clock } from "../../world/world.ts";
import { storeBlobs } from "../store/blobs.ts";
import { toSessionError, isDiskFull, SessionError, type SessionFailure } from "../error.ts";
import { encodeLine } from "./line.ts";

/** Where a log stands, and how far it has come. */
export type SessionLogOptions = {
  readonly id: string;
  /** The id its checksums are made with. */
  readonly session: string;
  readonly folder: Folder;
  readonly name: string;
  readonly file: AppendHandle;
  readonly clock: Clock;
  readonly size: number;
  /** The number of its last record. */
  readonly sequence: number;
  /** How many entries it has. */
  readonly entries: number;
};

/** A record's text; of an entry, only the entry's, since nobody knows its place before it is written. */
export type RecordDraft = { readonly record: string } | { readonly entry: string };

/** Something for the log. `written` is called when it is in the file, and only the disk is waited for. */
export type LogAppend = {
  readonly blobs?: Blobs;
  readonly drafts?: readonly RecordDraft[];
  readonly onWritten?: (() => void) | undefined;
};

type PendingAppend = {
  readonly blobs: Blobs;
  readonly drafts: readonly RecordDraft[];
  readonly onWritten: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
};

/**
 * The one writer of a session's file. What is asked for while it waits for the disk goes together, in the order it was
 * asked for, with one flush. Blobs go before the records that came with them or after them.
 */
export class SessionLog {
  readonly #start: SessionLogOptions;
  readonly #waiting: PendingAppend[] = [];
  #size: number;
  #sequence: number;
  #entries: number;
  #working: Promise<void> | undefined;
  #failure: SessionFailure | undefined;

  constructor(start: SessionLogOptions) {
    this.#start = start;
    this.#size = start.size;
    this.#sequence = start.sequence;
    this.#entries = start.entries;
  }

  /** Resolves when the disk has confirmed all of it. If it rejects, nothing of it will be in the file. */
  append({ blobs = {}, drafts = [], onWritten: written }: LogAppend): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(new SessionError(this.#failure));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ blobs, drafts, onWritten: written, resolve, reject });
      this.#working ??= this.#work();
    });
  }

  /** Waits for what is under way. Nothing can be added any more. */
  async close(): Promise<void> {
    await this.#working;
    this.#failure ??= { kind: "closed", id: this.#start.id };
    await this.#start.file.close();
  }

  async #work(): Promise<void> {
    // Whoever asks in the same tick goes along.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const tasks = this.#waiting.splice(0);
      try {
        await this.#commit(tasks);
        for (const task of tasks) task.resolve();
      } catch (error) {
        // Whoever asked since then did not know that what came before is not there.
        for (const task of [...tasks, ...this.#waiting.splice(0)]) task.reject(error);
      }
    }
    this.#working = undefined;
  }

  async #commit(tasks: readonly PendingAppend[]): Promise<void> {
    const { folder, clock, name } = this.#start;
    try {
      for (const { blobs } of tasks) if (Object.keys(blobs).length > 0) await storeBlobs(folder, blobs);
    } catch (error) {
      throw toSessionError(error, folder.path);
    }
    const drafts = tasks.flatMap((task) => task.drafts);
    if (drafts.length === 0) return;
    await this.#checkUnchanged();
    const at = Math.max(0, Math.floor(clock.now()));
    const { text, sequence, entries } = encodeDrafts(drafts, {
      ...this.#start,
      at,
      sequence: this.#sequence,
      entries: this.#entries,
    });
    const bytes = Buffer.from(text);
    try {
      await this.#start.file.append(bytes);
      const confirmed = this.#flush();
      for (const { onWritten: written } of tasks) written?.();
      await confirmed;
    } catch (error) {
      await this.#takeBack();
      throw toSessionError(error, `${folder.path}/${name}`);
    }
    this.#size += bytes.length;
    this.#sequence = sequence;
    this.#entries = entries;
  }

  /** The name must still lead to the file that is open, and nobody else may have written to it. */
  async #checkUnchanged(): Promise<void> {
    const { folder, name, file, id } = this.#start;
    const [named, opened] = await Promise.all([folder.stat(name), file.stat()]);
    if (named?.identity !== opened.identity || opened.size !== this.#size) throw this.#fail({ kind: "changed", id });
  }

  /** After a failed flush nobody knows what is on the disk, and asking again would only get a yes for what was lost. */
  async #flush(): Promise<void> {
    try {
      await this.#start.file.flush();
    } catch (error) {
      if (error instanceof DiskError && !isDiskFull(error.code))
        throw this.#fail({ kind: "unconfirmed", id: this.#start.id, code: error.code });
      throw error;
    }
  }

  async #takeBack(): Promise<void> {
    if (this.#failure !== undefined) return;
    try {
      await this.#start.file.truncate(this.#size);
    } catch (error) {
      const code = error instanceof DiskError ? error.code : "EIO";
      this.#failure = { kind: "unconfirmed", id: this.#start.id, code };
    }
  }

  #fail(failure: SessionFailure): SessionError {
    this.#failure = failure;
    return new SessionError(failure);
  }
}

/** Where in a session the next records go. */
export type LogPosition = Pick<SessionLogOptions, "session" | "sequence" | "entries"> & { readonly at: number };

/** The lines of drafts that follow each other, and where the session stands after them. */
export const encodeDrafts = (
  drafts: readonly RecordDraft[],
  { session, at, ...before }: LogPosition,
): { readonly text: string; readonly sequence: number; readonly entries: number } => {
  let { sequence, entries } = before;
  const lines = drafts.map((draft) => {
    const text = "record" in draft ? draft.record : `{"kind":"entry","index":${entries++},"entry":${draft.entry}}`;
    return encodeLine({ session, sequence: ++sequence, at, text });
  });
  return { text: lines.join(""), sequence, entries };
};
