import type { Kept, Log } from "../../src/agent/journal.ts";
import type { Blobs, Entry } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { openingNotice, summaryIn } from "../../src/transcript/cut.ts";
import type { NewRecord } from "../../src/session/record.ts";

/** A session's log that lives in memory. Entries are kept as text, so nothing of a journal stays alive through it. */
export class LogInMemory implements Log {
  readonly #entries: string[] = [];
  #blobs: Blobs = {};

  async write(records: readonly NewRecord[], written: () => void): Promise<void> {
    for (const record of records) if (record.kind === "entry") this.#entries.push(JSON.stringify(record.entry));
    written();
  }

  async keep(blobs: Blobs): Promise<void> {
    this.#blobs = { ...this.#blobs, ...blobs };
  }

  /** The conversation as a new process finds it. */
  reopen(): Kept {
    const ledger = Ledger.from(this.#entries.map((text) => JSON.parse(text) as Entry));
    const { cut } = summaryIn(ledger.entries);
    ledger.release(openingNotice(ledger.entries, cut) === undefined ? 0 : 1, cut);
    const { entries, dropped, ordinal } = ledger;
    return { entries, blobs: this.#blobs, dropped, ordinal };
  }
}
