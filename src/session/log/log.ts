import type { Blobs } from "../../conversation/entry.ts";
import { DiskError, type AppendHandle, type Folder } from "../../world/disk.ts";
import type { Clock } from "../../world/world.ts";
import { storeBlobs } from "../store/blobs.ts";
import { toSessionError, isDiskFull, SessionError, type SessionFailure } from "../error.ts";
import { encodeLine } from "./line.ts";

/** An open log file and its current position. */
export type SessionLogOptions = {
  readonly id: string;
  /** The id its checksums include. */
  readonly session: string;
  readonly folder: Folder;
  readonly name: string;
  readonly file: AppendHandle;
  readonly clock: Clock;
  readonly size: number;
  /** The sequence number of the last record. */
  readonly sequence: number;
  /** The number of entries. */
  readonly entries: number;
};

/** A record as JSON text; for an entry, only the entry, because its index is assigned when it is written. */
export type RecordDraft = { readonly record: string } | { readonly entry: string };

/** Blobs and records to append. `onWritten` is called when they are in the file and only the flush is pending. */
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
 * The only writer of a session file. Appends requested while a flush is pending are batched, in order, into one write and
 * one flush (group commit). Blobs are stored before the records of the same batch.
 */
export class SessionLog {
  readonly #start: SessionLogOptions;
  readonly #queue: PendingAppend[] = [];
  #size: number;
  #sequence: number;
  #entries: number;
  #worker: Promise<void> | undefined;
  #failure: SessionFailure | undefined;

  constructor(start: SessionLogOptions) {
    this.#start = start;
    this.#size = start.size;
    this.#sequence = start.sequence;
    this.#entries = start.entries;
  }

  /** Appends and resolves once everything is durable. If it rejects, none of it is in the file. */
  append({ blobs = {}, drafts = [], onWritten }: LogAppend): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(new SessionError(this.#failure));
    return new Promise((resolve, reject) => {
      this.#queue.push({ blobs, drafts, onWritten, resolve, reject });
      this.#worker ??= this.#drainQueue();
    });
  }

  /** Waits for pending appends and closes the file. Later appends are rejected. */
  async close(): Promise<void> {
    await this.#worker;
    this.#failure ??= { kind: "closed", id: this.#start.id };
    await this.#start.file.close();
  }

  async #drainQueue(): Promise<void> {
    // Appends of the same tick share one batch.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const tasks = this.#queue.splice(0);
      try {
        await this.#commit(tasks);
        for (const task of tasks) task.resolve();
      } catch (error) {
        // Later appends may depend on the failed ones, so they fail too.
        for (const task of [...tasks, ...this.#queue.splice(0)]) task.reject(error);
      }
    }
    this.#worker = undefined;
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
      const flushed = this.#flush();
      for (const { onWritten } of tasks) onWritten?.();
      await flushed;
    } catch (error) {
      await this.#rollBack();
      throw toSessionError(error, `${folder.path}/${name}`);
    }
    this.#size += bytes.length;
    this.#sequence = sequence;
    this.#entries = entries;
  }

  /** Fails if the file was replaced or if another process wrote to it. */
  async #checkUnchanged(): Promise<void> {
    const { folder, name, file, id } = this.#start;
    const [named, opened] = await Promise.all([folder.stat(name), file.stat()]);
    if (named?.identity !== opened.identity || opened.size !== this.#size) throw this.#fail({ kind: "changed", id });
  }

  /** After a failed flush the contents of the disk are unknown, and a second flush would report success for lost data. */
  async #flush(): Promise<void> {
    try {
      await this.#start.file.flush();
    } catch (error) {
      if (error instanceof DiskError && !isDiskFull(error.code))
        throw this.#fail({ kind: "unconfirmed", id: this.#start.id, code: error.code });
      throw error;
    }
  }

  async #rollBack(): Promise<void> {
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

/** The position of the next records in a session. */
export type LogPosition = Pick<SessionLogOptions, "session" | "sequence" | "entries"> & { readonly at: number };

/** Encodes drafts as consecutive lines, and returns the position after them. */
export const encodeDrafts = (
  drafts: readonly RecordDraft[],
  { session, at, ...before }: LogPosition,
): { readonly text: string; readonly sequence: number; readonly entries: number } => {
  const { texts, entries } = encodeRecords(drafts, before.entries);
  const lines = texts.map((text, index) => encodeLine({ session, sequence: before.sequence + index + 1, at, text }));
  return { text: lines.join(""), sequence: before.sequence + lines.length, entries };
};

/** Encodes drafts as the texts of records; `entries` is the number of entries before, and after. */
export const encodeRecords = (
  drafts: readonly RecordDraft[],
  before: number,
): { readonly texts: readonly string[]; readonly entries: number } => {
  let entries = before;
  const texts = drafts.map((draft) =>
    "record" in draft ? draft.record : `{"kind":"entry","index":${entries++},"entry":${draft.entry}}`,
  );
  return { texts, entries };
};
