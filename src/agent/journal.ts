import { Ledger, type Blobs, type Entry } from "../conversation/index.ts";
import type { NewRecord } from "../session/record.ts";

/** What a conversation leaves behind besides its entries. */
export type Remark = Exclude<NewRecord, { readonly kind: "entry" }>;

/** Where a conversation is kept. A promise resolves once what it was given survives a power cut. */
export type Log = {
  readonly write: (records: readonly NewRecord[]) => Promise<void>;
  /** Keeps files by hash. What is there already costs nothing. */
  readonly keep: (blobs: Blobs) => Promise<void>;
};

/** A conversation as it is written, and its log. Whoever writes to the ledger calls `save` before acting on it. */
export class Journal {
  readonly ledger: Ledger;
  /** All files, as base64 by hash. */
  readonly blobs: Blobs;
  readonly #log: Log | undefined;
  readonly #blobs: Record<string, string>;
  readonly #remarks: Remark[] = [];
  readonly #fresh: Record<string, string> = {};
  #written: number;
  #saving: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  /** Goes on with `entries`, which the log holds already. Without a log, nothing outlives the process. */
  constructor(log?: Log, { entries, blobs }: { entries: readonly Entry[]; blobs: Blobs } = { entries: [], blobs: {} }) {
    this.#log = log;
    this.#blobs = { ...blobs };
    this.blobs = this.#blobs;
    this.ledger = Ledger.from(entries);
    this.#written = entries.length;
  }

  /** Takes files in. They are written with the next `save`, before the entries that name them. */
  keep(blobs: Blobs): void {
    for (const [hash, base64] of Object.entries(blobs)) {
      if (hash in this.#blobs) continue;
      this.#blobs[hash] = base64;
      this.#fresh[hash] = base64;
    }
  }

  remark(remark: Remark): void {
    this.#remarks.push(remark);
  }

  /** Writes everything new, after what is being written already. What could not be written is tried again next time. */
  save(): Promise<void> {
    if (this.#next !== undefined) return this.#next;
    if (this.#saving === undefined) return this.#begin();
    this.#next = this.#saving.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<void> {
    const saved = this.#write();
    const done = saved
      .catch(() => undefined)
      .then(() => {
        if (this.#saving === done) this.#saving = undefined;
      });
    this.#saving = done;
    return saved;
  }

  async #write(): Promise<void> {
    const { entries } = this.ledger;
    const end = entries.length;
    const fresh = { ...this.#fresh };
    const remarks = [...this.#remarks];
    const records = [
      ...entries.slice(this.#written, end).map((entry) => ({ kind: "entry", entry }) as const),
      ...remarks,
    ];
    if (this.#log !== undefined) {
      if (Object.keys(fresh).length > 0) await this.#log.keep(fresh);
      if (records.length > 0) await this.#log.write(records);
    }
    this.#written = end;
    this.#remarks.splice(0, remarks.length);
    for (const hash of Object.keys(fresh)) delete this.#fresh[hash];
  }
}
