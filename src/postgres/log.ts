import type { Blobs } from "../conversation/entry.ts";
import { SessionError, type SessionFailure } from "../session/error.ts";
import { computeChecksum, frameRecord } from "../session/log/line.ts";
import { encodeRecords, type RecordDraft } from "../session/log/log.ts";
import { formatVersion, type NewRecord } from "../session/log/record.ts";
import { draftRecord } from "../session/session.ts";
import type { Clock } from "../world/world.ts";
import { storeSessionBlobs, type BlobOwner } from "./blobs.ts";
import { isConnectionFailure, runStatement, toDatabaseError, type Row } from "./database.ts";
import { encodeChecksum } from "./load.ts";
import { appendStatement } from "./statements.ts";
import type { SummaryTracker } from "./summary.ts";

/** The right to write to one session: `fence` grows with each change of its owner. */
export type SessionClaim = { readonly id: string; readonly fence: number };

/** Finds the posted commands that records answer. */
export type CommandMatcher = {
  /** The ids of the commands these records answer. The records may yet fail to be written. */
  readonly answeredBy: (records: readonly NewRecord[]) => readonly number[];
  /** Called when commands are marked as taken. */
  readonly onTaken: (ids: readonly number[]) => void;
};

/** Options of a log. */
export type PostgresLogOptions = BlobOwner & {
  readonly claim: SessionClaim;
  readonly clock: Clock;
  readonly sequence: number;
  readonly entries: number;
  readonly summary: SummaryTracker;
  /** Whether the owner's lease is over. */
  readonly isLost: () => boolean;
  /** The posted commands that records answer; they are marked as taken in the same transaction. */
  readonly commands?: CommandMatcher | undefined;
  /** The cost of a record in US dollars, for the limit of the tenant. */
  readonly costOf?: ((record: NewRecord) => number) | undefined;
};

type PendingWrite = {
  readonly blobs: Blobs;
  readonly records: readonly NewRecord[];
  /** The records as they were when they were given. */
  readonly drafts: readonly RecordDraft[];
  readonly done: readonly number[];
  readonly onWritten: (() => void) | undefined;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
};

/**
 * The only writer of a session in the database. Appends requested during another are batched, in order, into one
 * transaction. An append is refused unless the session still belongs to this owner and ends where this log ends.
 */
export class PostgresLog {
  readonly #options: PostgresLogOptions;
  readonly #queue: PendingWrite[] = [];
  #sequence: number;
  #entries: number;
  #summary: SummaryTracker;
  #worker: Promise<void> | undefined;
  #failure: SessionFailure | undefined;

  constructor(options: PostgresLogOptions) {
    this.#options = options;
    this.#sequence = options.sequence;
    this.#entries = options.entries;
    this.#summary = options.summary;
  }

  get sequence(): number {
    return this.#sequence;
  }

  /** Appends and resolves once everything is durable. If it rejects with another failure than `unconfirmed`, nothing was written. */
  append(records: readonly NewRecord[], onWritten?: () => void): Promise<void> {
    const drafts = records.map(draftRecord);
    return this.#enqueue({ blobs: {}, records, drafts, done: [], onWritten });
  }

  storeBlobs(blobs: Blobs): Promise<void> {
    return this.#enqueue({ blobs, records: [], drafts: [], done: [], onWritten: undefined });
  }

  /** Marks posted commands as taken that need no record. */
  markTaken(commands: readonly number[]): Promise<void> {
    return commands.length === 0
      ? Promise.resolve()
      : this.#enqueue({ blobs: {}, records: [], drafts: [], done: commands, onWritten: undefined });
  }

  /** Waits for pending appends. Later ones are rejected. */
  async close(): Promise<void> {
    await this.#worker;
    this.#failure ??= { kind: "closed", id: this.#options.claim.id };
  }

  #enqueue(write: Omit<PendingWrite, "resolve" | "reject">): Promise<void> {
    if (this.#failure !== undefined) return Promise.reject(new SessionError(this.#failure));
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...write, resolve, reject });
      this.#worker ??= this.#drainQueue();
    });
  }

  async #drainQueue(): Promise<void> {
    // Appends of the same tick share one transaction.
    await Promise.resolve();
    while (this.#queue.length > 0) {
      const writes = this.#queue.splice(0);
      try {
        await this.#commit(writes);
        for (const write of writes) write.resolve();
      } catch (error) {
        // Later appends may depend on the failed ones, so they fail too.
        for (const write of [...writes, ...this.#queue.splice(0)]) write.reject(error);
      }
    }
    this.#worker = undefined;
  }

  async #commit(writes: readonly PendingWrite[]): Promise<void> {
    const { claim, commands, costOf, clock } = this.#options;
    for (const { blobs } of writes)
      if (Object.keys(blobs).length > 0) await storeSessionBlobs(this.#options, claim.id, blobs);
    const records = writes.flatMap((write) => write.records);
    const done = [...writes.flatMap((write) => write.done), ...(commands?.answeredBy(records) ?? [])];
    if (records.length === 0 && done.length === 0) return;
    const { texts, entries } = encodeRecords(
      writes.flatMap((write) => write.drafts),
      this.#entries,
    );
    const at = Math.max(0, Math.floor(clock.now()));
    const sums: string[] = [];
    let bytes = 0;
    for (const [index, text] of texts.entries()) {
      const position = { session: claim.id, sequence: this.#sequence + index + 1, at };
      const checksum = computeChecksum(position, Buffer.from(text));
      sums.push(checksum);
      bytes += Buffer.byteLength(frameRecord({ ...position, checksum, text }));
    }
    const summary = this.#summary.with(records);
    const statement = this.#send([
      this.#options.tenant,
      claim.id,
      claim.fence,
      this.#sequence,
      sums.map(encodeChecksum),
      texts,
      at,
      done,
      entries - this.#entries,
      bytes,
      formatVersion,
      summary !== this.#summary ? summary.text : null,
      costOf === undefined ? 0 : records.reduce((sum, record) => sum + costOf(record), 0),
    ]);
    for (const { onWritten } of writes) onWritten?.();
    await statement;
    this.#sequence += texts.length;
    this.#entries = entries;
    this.#summary = summary;
    commands?.onTaken(done);
  }

  /** Sends an append. If the connection breaks, its outcome is unknown: what is stored decides whether it is sent again. */
  async #send(values: readonly unknown[]): Promise<void> {
    const { claim, clock, database, isLost } = this.#options;
    const count = (values[5] as readonly string[]).length;
    for (let attempt = 0; ; attempt++) {
      if (isLost()) throw this.#fail(attempt === 0 ? { kind: "lost", id: claim.id } : this.#unconfirmed);
      try {
        const { rows } = await database.query(appendStatement, values);
        if (rows.length > 0) return;
        // An earlier attempt, whose connection broke, may have been stored meanwhile.
        if (attempt === 0) throw this.#fail({ kind: "lost", id: claim.id });
      } catch (error) {
        if (error instanceof SessionError) throw error;
        if (!isConnectionFailure(error)) throw toDatabaseError(error);
      }
      if (await this.#isStored(count, values[7])) return;
      await clock.sleep(Math.min(1000, 50 * 2 ** attempt));
    }
  }

  /** Whether an append whose outcome is unknown was stored. Throws if the session is not ours any more. */
  async #isStored(count: number, commands: unknown): Promise<boolean> {
    const { claim } = this.#options;
    const stored = await this.#readStored();
    if (stored === "unknown") throw this.#fail(this.#unconfirmed);
    if (stored.fence !== claim.fence) throw this.#fail({ kind: "lost", id: claim.id });
    // Only this log writes under this fence. Without records, the commands it takes tell.
    if (count > 0 ? stored.sequence === this.#sequence + count : await this.#areTaken(commands)) return true;
    if (stored.sequence !== this.#sequence) throw this.#fail({ kind: "lost", id: claim.id });
    return false;
  }

  /** Reads how far the session is, as soon as the database answers again. */
  async #readStored(): Promise<{ readonly fence: number; readonly sequence: number } | "unknown"> {
    const { claim, clock, database, tenant, isLost } = this.#options;
    for (let attempt = 0; !isLost(); attempt++) {
      try {
        const [row] = await runStatement(
          database,
          "select fence, sequence from parley.session where tenant = $1 and id = $2",
          [tenant, claim.id],
        );
        return { fence: Number(row?.["fence"] ?? -1), sequence: Number(row?.["sequence"] ?? -1) };
      } catch (error) {
        if (!isConnectionFailure(error)) throw error;
        await clock.sleep(Math.min(1000, 50 * 2 ** attempt));
      }
    }
    return "unknown";
  }

  async #areTaken(commands: unknown): Promise<boolean> {
    const { claim, database, tenant } = this.#options;
    const [row]: readonly Row[] = await runStatement(
      database,
      "select count(*) as left from parley.inbox where tenant = $1 and session = $2 and id = any($3) and taken is null",
      [tenant, claim.id, commands],
    );
    return Number(row?.["left"]) === 0;
  }

  get #unconfirmed(): SessionFailure {
    return { kind: "unconfirmed", id: this.#options.claim.id, code: "no answer from the database" };
  }

  #fail(failure: SessionFailure): SessionError {
    this.#failure = failure;
    return new SessionError(failure);
  }
}
