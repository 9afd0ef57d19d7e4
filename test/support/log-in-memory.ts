import type { JournalContents, JournalLog } from "../../src/agent/session/journal.ts";
import type { Blobs, Entry } from "../../src/conversation/entry.ts";
import { Ledger } from "../../src/conversation/ledger.ts";
import { openingNotice, lastSummaryIn } from "../../src/transcript/compaction-cut.ts";
import type { NewRecord } from "../../src/session/log/record.ts";

/** A session's log that lives in memory. Entries are kept as text, so nothing of a journal stays alive through it. */
export class LogInMemory implements JournalLog {
  readonly #entries: string[] = [];
  #blobs: Blobs = {};

  async append(records: readonly NewRecord[], written: () => void): Promise<void> {
    for (const record of records) if (record.kind === "entry") this.#entries.push(JSON.stringify(record.entry));
    written();
  }

  async storeBlobs(blobs: Blobs): Promise<void> {
    this.#blobs = { ...this.#blobs, ...blobs };
  }

  /** The conversation as a new process finds it. */
  reopen(): JournalContents {
    const ledger = Ledger.from(this.#entries.map((text) => JSON.parse(text) as Entry));
    const { cut } = lastSummaryIn(ledger.entries);
    ledger.release(openingNotice(ledger.entries, cut) === undefined ? 0 : 1, cut);
    const { entries, dropped, ordinal } = ledger;
    return { entries, blobs: this.#blobs, dropped, highestOmittedCall: ordinal };
  }
}
