import { SessionError } from "../session/error.ts";
import type { Clock } from "../world/world.ts";
import { version } from "../world/version.ts";
import { runStatement, type SqlDatabase } from "./database.ts";
import { beatStatement, enlistStatement, leaveStatement } from "./statements.ts";

/** Options of a lease. */
export type LeaseOptions = {
  readonly clock: Clock;
  readonly random: () => number;
  /** How long a worker counts as alive after its last heartbeat, in milliseconds. Default: 15 seconds. */
  readonly leaseMs?: number;
  /** Whether it takes ready sessions and continues those of dead workers. */
  readonly drives: boolean;
  /** Where others reach this worker. */
  readonly address?: string;
  /** Called once, when the lease is lost: everything that writes under it must stop. */
  readonly onLost?: () => void;
};

const defaultLeaseMs = 15_000;

/**
 * The right of this process to own sessions: an entry in the table of workers, renewed by heartbeats. It ends by itself
 * when no heartbeat succeeded for 80 % of its time, by this machine's monotonic clock, before any other process may begin.
 * The fence in every write holds even if this process is paused meanwhile.
 */
export class WorkerLease {
  readonly id: string;
  readonly leaseMs: number;
  readonly #database: SqlDatabase;
  readonly #options: LeaseOptions;
  #cancelBeat: (() => void) | undefined;
  #cancelStop: (() => void) | undefined;
  #isLost = false;
  #hasLeft = false;

  private constructor(database: SqlDatabase, options: LeaseOptions) {
    this.#database = database;
    this.#options = options;
    this.leaseMs = options.leaseMs ?? defaultLeaseMs;
    const digits = Array.from({ length: 10 }, () => Math.floor(options.random() * 36).toString(36)).join("");
    this.id = `${process.pid}-${Math.floor(options.clock.now()).toString(36)}-${digits}`;
  }

  /** Enlists this process and keeps the lease alive until it is lost or closed. */
  static async open(database: SqlDatabase, options: LeaseOptions): Promise<WorkerLease> {
    const lease = new WorkerLease(database, options);
    const sent = options.clock.elapsed();
    await runStatement(database, enlistStatement, [
      lease.id,
      options.address ?? null,
      version,
      options.drives,
      lease.leaseMs / 1000,
    ]);
    lease.#renewed(sent);
    return lease;
  }

  get isLost(): boolean {
    return this.#isLost;
  }

  /** Ends the lease. Sessions must be released before; a worker that still owns one stays until it is reaped. */
  async close(): Promise<void> {
    this.#hasLeft = true;
    this.#stopTimers();
    if (!this.#isLost) await runStatement(this.#database, leaveStatement, [this.id]);
  }

  /** Ends the lease here and now, without a word to the database. */
  lose(): void {
    if (this.#isLost || this.#hasLeft) return;
    this.#isLost = true;
    this.#stopTimers();
    this.#options.onLost?.();
  }

  /** The time counts from when the heartbeat was sent: the database may have counted from then on. */
  #renewed(sent: number): void {
    if (this.#isLost || this.#hasLeft) return;
    const { clock } = this.#options;
    this.#stopTimers();
    const left = sent + this.leaseMs * 0.8 - clock.elapsed();
    if (left <= 0) return this.lose();
    this.#cancelStop = clock.after(left, () => this.lose());
    this.#cancelBeat = clock.after(Math.min(left, this.leaseMs / 4), () => void this.#beat());
  }

  async #beat(): Promise<void> {
    const { clock } = this.#options;
    const sent = clock.elapsed();
    try {
      const rows = await this.#database.query(beatStatement, [this.id, this.leaseMs / 1000]);
      if (rows.rows.length === 0) this.lose();
      else this.#renewed(sent);
    } catch {
      // The next one may succeed before the time is over.
      if (!this.#isLost && !this.#hasLeft) this.#cancelBeat = clock.after(this.leaseMs / 20, () => void this.#beat());
    }
  }

  #stopTimers(): void {
    this.#cancelBeat?.();
    this.#cancelStop?.();
  }
}

/** The failure of a session whose lease was lost. */
export const lostSession = (id: string): SessionError => new SessionError({ kind: "lost", id });
