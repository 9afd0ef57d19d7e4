import type { Blobs, Entry } from "../../conversation/entry.ts";
import { Ledger, type DroppedEntries } from "../../conversation/ledger.ts";
import type { Media } from "../../conversation/parts.ts";
import type { NewRecord } from "../../session/log/record.ts";
import { openingNotice, lastSummaryIn } from "../../transcript/compaction-cut.ts";

/** What a conversation leaves behind besides its entries. */
export type MetadataRecord = Exclude<NewRecord, { readonly kind: "entry" }>;

/**
 * Where a conversation is kept. A promise resolves once what it was given survives a power cut; `written` is called when
 * there is nothing left to do but to wait for the disk.
 */
export type JournalLog = {
  readonly append: (records: readonly NewRecord[], written: () => void) => Promise<void>;
  /** Keeps files by hash. What is there already costs nothing. */
  readonly storeBlobs: (blobs: Blobs) => Promise<void>;
};

/** A conversation as it is written, and its log. Whoever writes to the ledger calls `save` before acting on it. */
export class Journal {
  readonly ledger: Ledger;
  /** All files, as base64 by hash. */
  readonly blobs: Blobs;
  readonly #log: JournalLog | undefined;
  readonly #blobs: Record<string, string>;
  readonly #remarks: MetadataRecord[] = [];
  readonly #fresh: Record<string, string> = {};
  /** How many entries the log has. */
  #written: number;
  /** Files and remarks so far. */
  #noted = 0;
  /** What is being written, and what will be when that is done. */
  #saving: (JournalWrite & { readonly size: number }) | undefined;
  #next: JournalWrite | undefined;

  /** Goes on with `entries`, which the log holds already. Without a log, nothing outlives the process. */
  constructor(
    log?: JournalLog,
    { entries, blobs, dropped = 0, ordinal = 0 }: JournalContents = { entries: [], blobs: {} },
  ) {
    this.#log = log;
    this.#blobs = { ...blobs };
    this.blobs = this.#blobs;
    this.ledger = Ledger.from(entries, { dropped, ordinal });
    this.#written = entries.length + dropped;
  }

  /** How many entries the conversation has, those that are no longer held included. */
  get entryCount(): number {
    return this.ledger.entries.length + this.ledger.dropped;
  }

  /** Lets go of the entries that the last summary stands for, and of files that only they name. The log keeps all of them. */
  releaseCompacted(): void {
    // Without a log they would be lost.
    if (this.#log === undefined || this.#written < this.entryCount) return;
    const { entries } = this.ledger;
    const { cut } = lastSummaryIn(entries);
    const opening = openingNotice(entries, cut) === undefined ? 0 : 1;
    if (cut <= opening) return;
    const removed = this.ledger.release(opening, cut);
    const media = entries.flatMap(mediaIn);
    const uris = new Set(media.flatMap(({ source }) => (source.type === "uri" ? [source.uri] : [])));
    // A file that what is left still names has to stay known.
    for (const entry of removed) if (entry.type === "copy" && uris.has(entry.uri)) entries.push(entry);
    const named = new Set(entries.flatMap(hashesIn));
    for (const hash of Object.keys(this.#blobs))
      if (!named.has(hash) && !(hash in this.#fresh)) delete this.#blobs[hash];
  }

  /** Takes files in. They are written with the next `save`, before the entries that name them. */
  addBlobs(blobs: Blobs): void {
    for (const [hash, base64] of Object.entries(blobs)) {
      if (hash in this.#blobs) continue;
      this.#blobs[hash] = base64;
      this.#fresh[hash] = base64;
      this.#noted += 1;
    }
  }

  appendMetadata(remark: MetadataRecord): void {
    this.#remarks.push(remark);
    this.#noted += 1;
  }

  /** Writes everything new, after what is being written already. What could not be written is tried again next time. */
  commit(): Promise<void> {
    if (this.#next !== undefined) return this.#next.committed;
    if (this.#saving === undefined) return this.#begin().committed;
    if (this.#saving.size === this.#size) return this.#saving.committed;
    const begun = this.#saving.committed
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    this.#next = {
      submitted: begun.then(({ submitted }) => submitted),
      committed: begun.then(({ committed }) => committed),
    };
    return this.#next.committed;
  }

  /** How much there was to write so far. */
  get #size(): number {
    return this.entryCount + this.#noted;
  }

  /** Settles when there is nothing left to do for what was saved so far but to wait for the disk: time for other things. */
  get submitted(): Promise<void> {
    return (this.#next ?? this.#saving)?.submitted ?? Promise.resolve();
  }

  #begin(): JournalWrite {
    let hand = (): void => {};
    const size = this.#size;
    const submitted = new Promise<void>((resolve) => (hand = resolve));
    const committed = this.#write(hand);
    const begun = { size, submitted, committed };
    this.#saving = begun;
    const over = (): void => {
      hand();
      if (this.#saving === begun) this.#saving = undefined;
    };
    committed.then(over, over);
    return begun;
  }

  async #write(written: () => void): Promise<void> {
    const { entries, dropped } = this.ledger;
    const end = this.entryCount;
    const fresh = { ...this.#fresh };
    const remarks = [...this.#remarks];
    const records = [
      ...entries
        .slice(this.#written - dropped)
        .map((entry) => ({ kind: "entry", entry: toLogEntry(entry, dropped) }) as const),
      ...remarks,
    ];
    if (this.#log !== undefined) {
      if (Object.keys(fresh).length > 0) await this.#log.storeBlobs(fresh);
      if (records.length > 0) await this.#log.append(records, written);
    }
    this.#written = end;
    this.#remarks.splice(0, remarks.length);
    for (const hash of Object.keys(fresh)) delete this.#fresh[hash];
  }
}

/** A conversation that a log holds already: the entries that models still see, and what is known of those before. */
export type JournalContents = { readonly entries: readonly Entry[]; readonly blobs: Blobs } & Partial<DroppedEntries>;

/** An entry as the log has it, where places are counted from the beginning of the conversation. */
const toLogEntry = (entry: Entry, dropped: number): Entry =>
  entry.type === "compaction" && entry.from > 0 ? { ...entry, from: entry.from + dropped } : entry;

const hashesIn = (entry: Entry): readonly string[] =>
  mediaIn(entry).flatMap(({ source }) => (source.type === "blob" ? [source.hash] : []));

const mediaIn = (entry: Entry): readonly Media[] => {
  if (entry.type === "copy") return [entry.media];
  const parts = entry.type === "completion" ? entry.outcome.content : "parts" in entry ? entry.parts : [];
  return parts.filter((part) => part.type === "media");
};

/** A writing: when it is handed over to the disk, and when the disk has confirmed it. */
type JournalWrite = { readonly submitted: Promise<void>; readonly committed: Promise<void> };
