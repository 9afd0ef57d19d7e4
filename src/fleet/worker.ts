import {
  readDrivenSessions,
  readWorkerCommands,
  reapWorkers,
  releaseSession,
  takeSessions,
  type TakenSession,
} from "../postgres/ownership.ts";
import { WorkerLease } from "../postgres/lease.ts";
import { runStatement } from "../postgres/database.ts";
import type { PostgresStoreOptions } from "../postgres/store.ts";
import type { Workplaces } from "./workplace.ts";
import type { LiveDoor } from "./live-door.ts";
import { parseCommands, SessionDriver, type OpenSessionAgent } from "./session-driver.ts";

/** Options of a worker. */
export type WorkerOptions = {
  readonly store: Omit<PostgresStoreOptions, "tenant">;
  readonly openAgent: OpenSessionAgent;
  /** Where tools run. Default: in the project's own folder. */
  readonly workplaces?: Workplaces;
  /** The most sessions at once. Default: 16. */
  readonly most?: number;
  readonly leaseMs?: number;
  /** Milliseconds a question keeps its turn in this process. Default: 30 seconds. */
  readonly parkAfter?: number;
  /** Milliseconds between two looks for work. Default: 250. */
  readonly pollMs?: number;
  /** Crashes in a row after which a session waits for a person. Default: 5. */
  readonly mostCrashes?: number;
  /** Where front doors read live events of its sessions; see `openLiveDoor`. Default: nowhere, records alone are seen. */
  readonly live?: LiveDoor;
  readonly onReport?: (report: WorkerReport) => void;
};

/** Facts an operator may want to log. */
export type WorkerReport =
  | { readonly type: "taken" | "lost"; readonly tenant: string; readonly id: string; readonly fence: number }
  | { readonly type: "released"; readonly tenant: string; readonly id: string; readonly state: string }
  | { readonly type: "freed"; readonly tenant: string; readonly id: string; readonly state: string }
  | { readonly type: "failed"; readonly tenant?: string; readonly id?: string; readonly message: string }
  | {
      readonly type: "swept";
      readonly tenant: string;
      readonly id: string;
      readonly folder: string;
      readonly kept?: string;
    }
  | { readonly type: "fenced" };

/** A running worker. */
export type FleetWorker = {
  readonly id: () => string | undefined;
  readonly running: () => number;
  /** Takes nothing new, lets turns end for at most this long, gives sessions back, and ends. */
  readonly drain: (milliseconds: number) => Promise<void>;
  /** Resolves when the worker has ended. */
  readonly ended: Promise<void>;
};

/**
 * Starts a worker: it takes ready sessions it has room for, drives them, sends heartbeats and frees sessions of dead
 * workers. If it is cut off from the database, or found dead by others, all of its sessions stop here, and it begins
 * again under another name.
 */
export const startWorker = (options: WorkerOptions): FleetWorker => {
  const worker = new Worker(options);
  return {
    id: () => worker.id,
    running: () => worker.running,
    drain: (milliseconds) => worker.drain(milliseconds),
    ended: worker.run(),
  };
};

class Worker {
  readonly #options: WorkerOptions;
  readonly #drivers = new Map<string, { readonly driver: SessionDriver; readonly done: Promise<void> }>();
  readonly #draining = new AbortController();
  #lease: WorkerLease | undefined;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  get id(): string | undefined {
    return this.#lease?.id;
  }

  get running(): number {
    return this.#drivers.size;
  }

  async run(): Promise<void> {
    const { world } = this.#options.store;
    while (!this.#draining.signal.aborted) {
      try {
        await this.#serveLease();
      } catch (error) {
        this.#options.onReport?.({ type: "failed", message: messageOf(error) });
        await world.clock.sleep(1000, this.#draining.signal).catch(() => undefined);
      }
    }
    await Promise.all([...this.#drivers.values()].map(({ done }) => done));
  }

  async drain(milliseconds: number): Promise<void> {
    const { store } = this.#options;
    this.#draining.abort();
    for (const { driver } of this.#drivers.values()) driver.stop();
    const ended = Promise.all([...this.#drivers.values()].map(({ done }) => done));
    const waited = new AbortController();
    await Promise.race([ended, store.world.clock.sleep(milliseconds, waited.signal).catch(() => undefined)]);
    waited.abort();
    const lease = this.#lease;
    if (lease === undefined || lease.isLost) return;
    if (this.#drivers.size === 0) return lease.close().catch(() => undefined);
    // Turns that are left are continued by another worker at once, not after the lease.
    await runStatement(store.database, "update parley.worker set expires = now() where id = $1", [lease.id]).catch(
      () => undefined,
    );
    lease.lose();
    await ended;
  }

  /** Works under one lease, until it is lost or the worker drains. */
  async #serveLease(): Promise<void> {
    const { store, pollMs = 250, leaseMs, live } = this.#options;
    const { clock, random } = store.world;
    const stopped = new AbortController();
    const lease = await WorkerLease.open(store.database, {
      clock,
      random,
      drives: true,
      ...(leaseMs === undefined ? {} : { leaseMs }),
      ...(live === undefined ? {} : { address: live.address }),
      onLost: () => {
        this.#options.onReport?.({ type: "fenced" });
        stopped.abort();
        for (const { driver } of this.#drivers.values()) driver.abandon();
      },
    });
    this.#lease = lease;
    const isDraining = this.#draining.signal;
    let [lastReap, lastSweep] = [-Infinity, -Infinity];
    while (!lease.isLost && (!isDraining.aborted || this.#drivers.size > 0)) {
      try {
        if (clock.elapsed() - lastReap >= lease.leaseMs / 3) {
          lastReap = clock.elapsed();
          await this.#reap();
          await this.#releaseUndriven(lease);
        }
        if (clock.elapsed() - lastSweep >= sweepEveryMs) {
          lastSweep = clock.elapsed();
          await this.#sweep();
        }
        if (!isDraining.aborted) await this.#take(lease);
        if (this.#drivers.size > 0) await this.#deliver(lease);
      } catch (error) {
        this.#options.onReport?.({ type: "failed", message: messageOf(error) });
      }
      await clock.sleep(pollMs, stopped.signal).catch(() => undefined);
    }
    // Nothing of this lease may run beside the next one.
    if (lease.isLost) await Promise.all([...this.#drivers.values()].map(({ done }) => done));
  }

  async #reap(): Promise<void> {
    const { store, mostCrashes = 5, onReport } = this.#options;
    for (const { tenant, id, state } of await reapWorkers(store.database, mostCrashes))
      onReport?.({ type: "freed", tenant, id, state });
  }

  /**
   * Gives back sessions this worker owns and does not drive: the answer of the database to a take was lost, or it could
   * not be reached for a release. No other worker would free them while this one lives.
   */
  async #releaseUndriven(lease: WorkerLease): Promise<void> {
    const { store } = this.#options;
    for (const owned of await readDrivenSessions(store.database, lease.id))
      if (!this.#drivers.has(keyOf(owned.tenant, owned.id)))
        await releaseSession(store.database, owned, { wakeAfter: 0 });
  }

  async #sweep(): Promise<void> {
    const { store, workplaces, onReport } = this.#options;
    const isGone = async (tenant: string, id: string): Promise<boolean> =>
      (await runStatement(store.database, "select from parley.session where tenant = $1 and id = $2", [tenant, id]))
        .length === 0;
    for (const swept of (await workplaces?.sweep?.(isGone)) ?? []) onReport?.({ type: "swept", ...swept });
  }

  async #take(lease: WorkerLease): Promise<void> {
    const { store, most = 16 } = this.#options;
    const room = most - this.#drivers.size;
    if (room <= 0) return;
    for (const taken of await takeSessions(store.database, lease.id, room)) {
      if (lease.isLost || this.#draining.signal.aborted) await releaseSession(store.database, taken, { wakeAfter: 0 });
      else this.#drive(lease, taken);
    }
  }

  #drive(lease: WorkerLease, taken: TakenSession): void {
    const { store, openAgent, workplaces, parkAfter = 30_000, live, onReport } = this.#options;
    const { tenant, id, fence } = taken;
    const onRefusedCommand = (message: string): void => onReport?.({ type: "failed", tenant, id, message });
    const outlet = live?.openSession(taken);
    const driver = new SessionDriver(
      {
        store: { ...store, tenant },
        lease,
        openAgent,
        workplaces,
        parkAfter,
        onRefusedCommand,
        onEvent: outlet?.publish,
      },
      taken,
    );
    const key = keyOf(tenant, id);
    onReport?.({ type: "taken", tenant, id, fence });
    const done = driver
      .run()
      .then(
        (state) =>
          onReport?.(state === "lost" ? { type: "lost", tenant, id, fence } : { type: "released", tenant, id, state }),
        (error: unknown) => onReport?.({ type: "failed", tenant, id, message: messageOf(error) }),
      )
      .finally(() => {
        outlet?.end();
        if (this.#drivers.get(key)?.driver === driver) this.#drivers.delete(key);
      });
    this.#drivers.set(key, { driver, done });
  }

  /** Hands new commands to the sessions they are for. */
  async #deliver(lease: WorkerLease): Promise<void> {
    const rows = await readWorkerCommands(this.#options.store.database, lease.id);
    for (const row of rows) this.#drivers.get(keyOf(row.tenant, row.session))?.driver.receive(parseCommands([row]));
  }
}

/** Folders of removed sessions may wait: they only take space. */
const sweepEveryMs = 3_600_000;

const keyOf = (tenant: string, id: string): string => JSON.stringify([tenant, id]);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * Drives one session until nothing is left to do, for programs that schedule sessions themselves: call it from an activity
 * of Temporal, a handler of Restate or a workflow step of DBOS. It may be called again at any time; calls that may have
 * had effects are never repeated. Returns the state of the session; `busy` if another worker has it.
 */
export const driveSession = async (
  options: Pick<WorkerOptions, "store" | "openAgent" | "workplaces" | "leaseMs" | "parkAfter">,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<"idle" | "ready" | "parked" | "lost" | "busy"> => {
  const { store, openAgent, workplaces, leaseMs, parkAfter = 30_000 } = options;
  const { clock, random } = store.world;
  let driver: SessionDriver | undefined;
  const lease = await WorkerLease.open(store.database, {
    clock,
    random,
    drives: true,
    ...(leaseMs === undefined ? {} : { leaseMs }),
    onLost: () => driver?.abandon(),
  });
  try {
    const taken = await claimForDrive(options.store, lease, { tenant, id });
    if (taken === undefined) return "busy";
    driver = new SessionDriver({ store: { ...store, tenant }, lease, openAgent, workplaces, parkAfter }, taken);
    const deliver = async (): Promise<void> => {
      for (const row of await readWorkerCommands(store.database, lease.id)) driver?.receive(parseCommands([row]));
    };
    const stopped = new AbortController();
    const polling = (async () => {
      while (!stopped.signal.aborted && !lease.isLost) {
        await clock.sleep(250, stopped.signal).catch(() => undefined);
        if (!stopped.signal.aborted) await deliver().catch(() => undefined);
      }
    })();
    try {
      return await driver.run();
    } finally {
      stopped.abort();
      await polling;
    }
  } finally {
    await lease.close().catch(() => undefined);
  }
};

const claimForDrive = async (
  { database }: Pick<PostgresStoreOptions, "database">,
  lease: WorkerLease,
  { tenant, id }: { readonly tenant: string; readonly id: string },
): Promise<TakenSession | undefined> => {
  const { claimStatement } = await import("../postgres/statements.ts");
  const [row] = await runStatement(database, claimStatement, [lease.id, tenant, id]);
  if (row === undefined || row["fence"] === null) return undefined;
  const [session] = await runStatement(
    database,
    "select sequence, project, crashes from parley.session where tenant = $1 and id = $2",
    [tenant, id],
  );
  return {
    tenant,
    id,
    fence: Number(row["fence"]),
    sequence: Number(session?.["sequence"]),
    project: String(session?.["project"]),
    crashes: Number(session?.["crashes"]),
  };
};
