import type { Blobs, Entry } from "../../conversation/entry.ts";
import { Ledger } from "../../conversation/ledger.ts";
import type { Call, CallId, Media } from "../../conversation/parts.ts";
import type { NotBegun } from "../../session/log/content.ts";
import type { ConsentRecord, NewRecord } from "../../session/log/record.ts";
import { openingNotice, lastSummaryIn } from "../../transcript/compaction-cut.ts";

/** A record of a session log that is not an entry of the conversation. */
export type MetadataRecord = Exclude<NewRecord, { readonly kind: "entry" }>;

/**
 * The log a conversation is appended to. A promise resolves once its data survives a power cut; `submitted` is called
 * when only the disk is left to wait for.
 */
export type JournalLog = {
  readonly append: (records: readonly NewRecord[], submitted: () => void) => Promise<void>;
  /** Stores blobs under their hash. One that is there already costs nothing. */
  readonly storeBlobs: (blobs: Blobs) => Promise<void>;
};

/** A growing conversation and its session log. Code that adds to the ledger calls `commit` before it acts on the change. */
export class Journal {
  readonly ledger: Ledger;
  /** All blobs, as base64 by hash. */
  readonly blobs: Blobs;
  /** The calls that were asked about and have not begun. */
  readonly #notBegun: Set<CallId>;
  #consents: number;
  readonly #log: JournalLog | undefined;
  readonly #blobs: Record<string, string>;
  readonly #metadata: MetadataRecord[] = [];
  readonly #newBlobs: Record<string, string> = {};
  /** The number of entries in the log. */
  #loggedEntries: number;
  /** The number of blobs and metadata records so far. */
  #otherRecords = 0;
  /** The running write, and the one that follows it. */
  #current: (JournalWrite & { readonly size: number }) | undefined;
  #next: JournalWrite | undefined;

  /** Continues a conversation whose `entries` are in the log already. Without a log, it lives in memory only. */
  constructor(
    log?: JournalLog,
    { entries, blobs, dropped = 0, highestOmittedCall = 0, notBegun, consents = [] }: JournalContents = {
      entries: [],
      blobs: {},
    },
  ) {
    this.#consents = consents.length;
    this.#notBegun = new Set(notBegun?.keys());
    this.#log = log;
    this.#blobs = { ...blobs };
    this.blobs = this.#blobs;
    this.ledger = Ledger.from(entries, { dropped, ordinal: highestOmittedCall });
    this.#loggedEntries = entries.length + dropped;
  }

  /** The number of entries of the conversation, including those released from memory. */
  get entryCount(): number {
    return this.ledger.entries.length + this.ledger.dropped;
  }

  /** Releases the entries that the last compaction replaced from memory, and blobs only they use. The log keeps all of them. */
  releaseCompacted(): void {
    // Without a log they would be lost.
    if (this.#log === undefined || this.#loggedEntries < this.entryCount) return;
    const { entries } = this.ledger;
    const { cut } = lastSummaryIn(entries);
    const opening = openingNotice(entries, cut) === undefined ? 0 : 1;
    if (cut <= opening) return;
    const removed = this.ledger.release(opening, cut);
    const media = entries.flatMap(mediaIn);
    const uris = new Set(media.flatMap(({ source }) => (source.type === "uri" ? [source.uri] : [])));
    // A downloaded copy stays if a remaining entry still refers to its URL.
    for (const entry of removed) if (entry.type === "copy" && uris.has(entry.uri)) entries.push(entry);
    const named = new Set(entries.flatMap(hashesIn));
    for (const hash of Object.keys(this.#blobs))
      if (!named.has(hash) && !(hash in this.#newBlobs)) delete this.#blobs[hash];
  }

  /** Adds blobs. They are stored with the next `commit`, before the entries that refer to them. */
  addBlobs(blobs: Blobs): void {
    for (const [hash, base64] of Object.entries(blobs)) {
      if (hash in this.#blobs) continue;
      this.#blobs[hash] = base64;
      this.#newBlobs[hash] = base64;
      this.#otherRecords += 1;
    }
  }

  /** The calls without a result that are known not to have begun: they await approval, or another call that does. */
  get waitingCalls(): readonly Call[] {
    return this.ledger.pending().filter(({ id }) => this.#notBegun.has(id));
  }

  /** The number of consent records of the session. */
  get consentCount(): number {
    return this.#consents;
  }

  appendMetadata(record: MetadataRecord): void {
    if (record.kind === "consent") this.#consents += 1;
    if (record.kind === "asked") this.#notBegun.add(record.call);
    if (record.kind === "decided") this.#notBegun.delete(record.call);
    this.#metadata.push(record);
    this.#otherRecords += 1;
  }

  /** Appends everything new to the log and resolves once it is durable. Concurrent commits share a write; records of a failed one are written by the next. */
  commit(): Promise<void> {
    if (this.#next !== undefined) return this.#next.committed;
    if (this.#current === undefined) return this.#startWrite().committed;
    if (this.#current.size === this.#size) return this.#current.committed;
    const started = this.#current.committed
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#startWrite();
      });
    this.#next = {
      submitted: started.then(({ submitted }) => submitted),
      committed: started.then(({ committed }) => committed),
    };
    return this.#next.committed;
  }

  /** The number of records so far, written or not. */
  get #size(): number {
    return this.entryCount + this.#otherRecords;
  }

  /** Resolves when only the disk is left to wait for, so that the caller can use the time for other work. */
  get submitted(): Promise<void> {
    return (this.#next ?? this.#current)?.submitted ?? Promise.resolve();
  }

  #startWrite(): JournalWrite {
    let submit = (): void => {};
    const size = this.#size;
    const submitted = new Promise<void>((resolve) => (submit = resolve));
    const committed = this.#write(submit);
    const write = { size, submitted, committed };
    this.#current = write;
    const end = (): void => {
      submit();
      if (this.#current === write) this.#current = undefined;
    };
    committed.then(end, end);
    return write;
  }

  async #write(submitted: () => void): Promise<void> {
    const { entries, dropped } = this.ledger;
    const end = this.entryCount;
    const newBlobs = { ...this.#newBlobs };
    const metadata = [...this.#metadata];
    const records = [
      ...entries
        .slice(this.#loggedEntries - dropped)
        .map((entry) => ({ kind: "entry", entry: toLogEntry(entry, dropped) }) as const),
      ...metadata,
    ];
    if (this.#log !== undefined) {
      if (Object.keys(newBlobs).length > 0) await this.#log.storeBlobs(newBlobs);
      if (records.length > 0) await this.#log.append(records, submitted);
    }
    this.#loggedEntries = end;
    this.#metadata.splice(0, metadata.length);
    for (const hash of Object.keys(newBlobs)) delete this.#newBlobs[hash];
  }
}

/** A conversation that is in the log already: the entries models still see, and facts about those released before. */
export type JournalContents = {
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
  /** The number of entries released before. */
  readonly dropped?: number;
  /** The highest tool-call number among them. */
  readonly highestOmittedCall?: number;
  /** The calls that were asked about and have not begun. */
  readonly notBegun?: ReadonlyMap<CallId, NotBegun>;
  /** The permission rules the person added or took back for the session. */
  readonly consents?: readonly ConsentRecord[];
};

/** An entry as it is logged: positions count from the beginning of the conversation. */
const toLogEntry = (entry: Entry, dropped: number): Entry =>
  entry.type === "compaction" && entry.from > 0 ? { ...entry, from: entry.from + dropped } : entry;

const hashesIn = (entry: Entry): readonly string[] =>
  mediaIn(entry).flatMap(({ source }) => (source.type === "blob" ? [source.hash] : []));

const mediaIn = (entry: Entry): readonly Media[] => {
  if (entry.type === "copy") return [entry.media];
  const parts = entry.type === "completion" ? entry.outcome.content : "parts" in entry ? entry.parts : [];
  return parts.filter((part) => part.type === "media");
};

/** A write to the log: submitted to the disk, and confirmed by it. */
type JournalWrite = { readonly submitted: Promise<void>; readonly committed: Promise<void> };
