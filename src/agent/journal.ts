import { Ledger, type Blobs, type Entry } from "../conversation/index.ts";
import type { NewRecord } from "../session/record.ts";

/** What a conversation leaves behind besides its entries. */
export type Remark = Exclude<NewRecord, { readonly kind: "entry" }>;

/**
 * Where a conversation is kept. A promise resolves once what it was given survives a power cut; `written` is called when
 * there is nothing left to do but to wait for the disk.
 */
export type Log = {
  readonly write: (records: readonly NewRecord[], written: () => void) => Promise<void>;
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
  /** Files and remarks so far. */
  #noted = 0;
  /** What is being written, and what will be when that is done. */
  #saving: (Saving & { readonly size: number }) | undefined;
  #next: Saving | undefined;

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
      this.#noted += 1;
    }
  }

  remark(remark: Remark): void {
    this.#remarks.push(remark);
    this.#noted += 1;
  }

  /** Writes everything new, after what is being written already. What could not be written is tried again next time. */
  save(): Promise<void> {
    if (this.#next !== undefined) return this.#next.kept;
    if (this.#saving === undefined) return this.#begin().kept;
    if (this.#saving.size === this.#size) return this.#saving.kept;
    const begun = this.#saving.kept
      .catch(() => undefined)
      .then(() => {
        this.#next = undefined;
        return this.#begin();
      });
    this.#next = { handed: begun.then(({ handed }) => handed), kept: begun.then(({ kept }) => kept) };
    return this.#next.kept;
  }

  /** How much there was to write so far. */
  get #size(): number {
    return this.ledger.entries.length + this.#noted;
  }

  /** Settles when there is nothing left to do for what was saved so far but to wait for the disk: time for other things. */
  get handed(): Promise<void> {
    return (this.#next ?? this.#saving)?.handed ?? Promise.resolve();
  }

  #begin(): Saving {
    let hand = (): void => {};
    const size = this.#size;
    const handed = new Promise<void>((resolve) => (hand = resolve));
    const kept = this.#write(hand);
    const begun = { size, handed, kept };
    this.#saving = begun;
    const over = (): void => {
      hand();
      if (this.#saving === begun) this.#saving = undefined;
    };
    kept.then(over, over);
    return begun;
  }

  async #write(written: () => void): Promise<void> {
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
      if (records.length > 0) await this.#log.write(records, written);
    }
    this.#written = end;
    this.#remarks.splice(0, remarks.length);
    for (const hash of Object.keys(fresh)) delete this.#fresh[hash];
  }
}

/** A writing: when it is handed over to the disk, and when the disk has confirmed it. */
type Saving = { readonly handed: Promise<void>; readonly kept: Promise<void> };
