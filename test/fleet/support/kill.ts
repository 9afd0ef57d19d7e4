import { mkdirSync, readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { text } from "../../../src/conversation/builders.ts";
import { isConnectionFailure } from "../../../src/postgres/database.ts";
import { ServiceError } from "../../../src/fleet/service-error.ts";
import { openTestDatabase, startCluster, type TestDatabase } from "../../support/postgres.ts";
import { Random } from "../../support/random.ts";
import { examineKills } from "./kill-report.ts";
import { callModel } from "./call-model.ts";
import { openWorkerStage, tenant, type WorkerProcess, type WorkerStage, type WorkMoment } from "./program-stage.ts";

/** The findings of a run of kills. `problems` is empty if every promise held. */
export type FleetKillReport = {
  readonly workersKilled: number;
  /** The kills that hit a worker while it had sessions. */
  readonly killedAtWork: number;
  /** The kills of workers by the moment that led to them. */
  readonly moments: { readonly [moment: string]: number };
  readonly databasesKilled: number;
  readonly sessions: number;
  /** The prompts that were acknowledged. */
  readonly posted: number;
  /** The acknowledged prompts that reached no conversation, and those that reached one more than once. */
  readonly lost: number;
  readonly takenTwice: number;
  /** The events that followers saw. */
  readonly followed: number;
  /** The runs of the tool, by its effect. */
  readonly ran: number;
  /** The calls whose outcome was told as unknown. */
  readonly unknown: number;
  /** The prompts that had an effect twice: its first outcome was told as unknown, and the model asked again. */
  readonly repeated: number;
  readonly problems: readonly string[];
};

/** A moment that a kill is aimed at. */
type KillMoment = WorkMoment | "tool-began" | "started";

const moments: readonly KillMoment[] = [
  "request-received",
  "response-streamed",
  "append-sent",
  "append-passed",
  "append-answered",
  "tool-began",
  "tool-began",
  "started",
];

type Aim = {
  readonly moment: KillMoment;
  left: number;
  readonly turns: number;
  /** Returns false if the worker is already dead. */
  readonly hit: (slot: number) => boolean;
};

/** Options of a run of kills. */
export type FleetKillOptions = {
  readonly seed: number;
  /** Seconds of a worker's lease. */
  readonly lease?: number;
  /** Asked before each kill: false ends the run with fewer. */
  readonly mayGoOn?: () => boolean;
  readonly onProgress?: (progress: string) => void;
};

const slots = 5;
const openSessions = 15;
const postsPerSession = 12;
/** How many kills are aimed at a time, each at a moment of its own. */
const hunters = 3;
/** An aim that no moment has met for so long is replaced. */
const patience = 15_000;

/**
 * Kills workers, the real programs with the real agent, at moments of their work that a seed chooses, and now and then the
 * database. Each prompt makes the model run a command that appends one line to a file.
 */
export const killFleet = async (
  { workers: workerKills, databases: databaseKills }: { readonly workers: number; readonly databases: number },
  { seed, lease = 3, mayGoOn = () => true, onProgress }: FleetKillOptions,
): Promise<FleetKillReport> => {
  const random = new Random(seed);
  const cluster = await startCluster({ isSafe: true });
  const database = await openTestDatabase(cluster);
  const workers: WorkerProcess[] = [];
  const aims = new Set<Aim>();
  /** The slots whose worker is being replaced: what still arrives from there is of a dead one. */
  const replaced = new Set<number>();
  const meet = (slot: number, moment: KillMoment): "drop" | undefined => {
    const aim = [...aims].find((each) => each.moment === moment);
    if (aim === undefined || replaced.has(slot) || aim.left-- > 0) return undefined;
    const { hit, turns } = aim;
    aims.delete(aim);
    if (moment === "append-sent") return hit(slot) ? "drop" : undefined;
    const wait = (left: number): void => void (left === 0 ? hit(slot) : setImmediate(wait, left - 1));
    wait(turns);
    return undefined;
  };
  const stage = await openWorkerStage(database, { slots, model: callModel(), onMoment: meet, pollMs: 100 });
  const stopWatch = watchTools(stage, (slot) => meet(slot, "tool-began"));
  const start = (slot: number): void => {
    const worker = stage.startWorker(slot, ["--lease", String(lease), "--most", "4"]);
    workers[slot] = worker;
    // A worker that finds no database at its start ends by itself. Who runs it starts it again.
    worker.child.once("close", () => {
      if (worker.child.exitCode !== null && !isOver && workers[slot] === worker && !replaced.has(slot))
        setTimeout(() => !isOver && workers[slot] === worker && !replaced.has(slot) && start(slot), 1000);
    });
  };
  let isOver = false;
  for (let slot = 0; slot < slots; slot++) start(slot);
  const load = postPrompts(stage, database, random.below(2 ** 31));
  const kills = { workersKilled: 0, killedAtWork: 0, databasesKilled: 0, moments: {} as Record<string, number> };
  /** Kills that were begun: no more are begun than wanted. */
  const begun = { workers: 0, databases: 0 };
  let isDatabaseDown = false;
  const replace = async (slot: number, moment: KillMoment): Promise<void> => {
    await workers[slot]!.end();
    kills.workersKilled += 1;
    kills.moments[moment] = (kills.moments[moment] ?? 0) + 1;
    start(slot);
    replaced.delete(slot);
  };
  /** Replaces a worker, which ends in the middle of its start. */
  const killStart = async (): Promise<boolean> => {
    const slot = random.below(slots);
    if (replaced.has(slot)) return false;
    replaced.add(slot);
    await workers[slot]!.end();
    start(slot);
    await new Promise((resolve) => setTimeout(resolve, random.below(600)));
    await replace(slot, "started");
    return true;
  };
  /** Waits for a moment. Returns the slot it was met in, where the worker is killed unless the database is. */
  const awaitMoment = (moment: KillMoment, isDatabase: boolean): Promise<number | undefined> =>
    new Promise((resolve) => {
      const hit = (slot: number): boolean => {
        clearTimeout(timer);
        // Another kill may have come first while this one waited for its turns.
        const isMissed = replaced.has(slot);
        if (!isDatabase && !isMissed) {
          if (workers[slot]!.sessions.size > 0) kills.killedAtWork += 1;
          // At once: what follows the moment must not happen.
          workers[slot]!.child.kill("SIGKILL");
          replaced.add(slot);
        }
        resolve(isMissed ? undefined : slot);
        return !isMissed;
      };
      const left = random.below(moment === "response-streamed" ? 12 : 3);
      const aim: Aim = { moment, left, turns: random.below(12), hit };
      const timer = setTimeout(() => {
        aims.delete(aim);
        resolve(undefined);
      }, patience);
      aims.add(aim);
    });
  const killOnce = async (isDatabase: boolean): Promise<boolean> => {
    const moment = random.pick(isDatabase ? moments.filter((each) => each !== "started") : moments);
    if (moment === "started") return killStart();
    const slot = await awaitMoment(moment, isDatabase);
    if (slot === undefined) return false;
    if (!isDatabase) {
      await replace(slot, moment);
      return true;
    }
    await cluster.kill();
    kills.databasesKilled += 1;
    await cluster.start();
    return true;
  };
  const hunt = async (): Promise<void> => {
    while ((begun.workers < workerKills || begun.databases < databaseKills) && mayGoOn()) {
      const left = { workers: workerKills - begun.workers, databases: databaseKills - begun.databases };
      const isDatabase = !isDatabaseDown && random.below(left.workers + left.databases) < left.databases;
      if (!isDatabase && left.workers === 0) return;
      const kind = isDatabase ? "databases" : "workers";
      begun[kind] += 1;
      if (isDatabase) isDatabaseDown = true;
      if (!(await killOnce(isDatabase))) begun[kind] -= 1;
      if (isDatabase) isDatabaseDown = false;
      if ((kills.workersKilled + kills.databasesKilled) % 10 === 0) onProgress?.(JSON.stringify(kills));
    }
  };
  try {
    await Promise.all(Array.from({ length: hunters }, hunt));
    const { posted, sessions } = await load.finish();
    isOver = true;
    await Promise.all(workers.map((worker) => worker.end()));
    return await examineKills({ stage, database, posted, sessions, kills });
  } finally {
    isOver = true;
    stopWatch();
    load.stop();
    await stage.close();
    await database.close();
    await cluster.stop();
  }
};

/** Calls back with the slot of a worker whose tool began. The command itself tells it, by a file. */
const watchTools = (stage: WorkerStage, onBegin: (slot: number) => void): (() => void) => {
  const folder = join(stage.folder, "began");
  mkdirSync(folder);
  const watcher = watch(folder, (event, name) => {
    // A file is created, and then written.
    const slot = event === "change" && name !== null ? Number(readFileSync(join(folder, name), "utf8")) : Number.NaN;
    if (Number.isInteger(slot)) onBegin(slot);
  });
  return () => watcher.close();
};

/** A session of the run, and the events its follower saw. */
export type FollowedSession = {
  readonly id: string;
  readonly seen: { readonly sequence: number; readonly text: string }[];
};

/** Posts prompts to changing sessions until it is finished, and follows all of them. */
const postPrompts = (stage: WorkerStage, database: TestDatabase, seed: number) => {
  const random = new Random(seed);
  const sessions: FollowedSession[] = [];
  /** The prompts that were acknowledged, and the session of each. */
  const posted = new Map<string, string>();
  const stopped = new AbortController();
  let isPosting = true;
  const follows: Promise<void>[] = [];
  /** Follows a session while it has work, again and again, until it has no more to come. */
  const follow = async (session: FollowedSession): Promise<void> => {
    while (!stopped.signal.aborted) {
      await insist(async () => {
        const after = session.seen.at(-1)?.sequence ?? 0;
        for await (const { sequence, event } of stage.service.follow(tenant, session.id, {
          after,
          untilIdle: true,
          signal: stopped.signal,
        }))
          session.seen.push({ sequence, text: JSON.stringify(event) });
      }).catch(() => undefined);
      const isRetired = sessions.length - sessions.indexOf(session) > openSessions;
      if (isRetired && (await insist(() => stage.service.read(tenant, session.id))).state === "idle") return;
      await pause();
    }
  };
  const post = async (): Promise<void> => {
    const open = sessions.slice(-openSessions);
    const wanted = posted.size >= sessions.length * postsPerSession || sessions.length < openSessions;
    if (wanted) {
      const session = { id: await insist(() => stage.create()), seen: [] };
      sessions.push(session);
      open.push(session);
      follows.push(follow(session));
    }
    await postTo(random.pick(open).id);
  };
  const postTo = async (id: string): Promise<void> => {
    const name = `call-${posted.size + 1}`;
    // A sender repeats what was not acknowledged, with the same key.
    await insist(() => stage.post(id, { type: "user", parts: [text(`Run ${name}.`)] }, name));
    posted.set(name, id);
  };
  let wakes = 0;
  /** The sessions with something left to do. One whose turn ended too many workers waits for a command, and gets one. */
  const wakeParked = async (): Promise<number> => {
    const { rows } = await insist(() => database.pool.query(unfinished));
    for (const { id, state } of rows as readonly { readonly id: string; readonly state: string }[])
      if (state === "parked") {
        const key = `wake-${(wakes += 1)}`;
        await insist(() => stage.post(id, { type: "title", title: key }, key));
      }
    return rows.length;
  };
  const posting = (async () => {
    while (isPosting) {
      if ((await wakeParked()) < openSessions) await post();
      else await pause();
    }
  })();
  return {
    stop: () => {
      isPosting = false;
      stopped.abort();
    },
    /** Waits until all prompts are carried out. */
    finish: async () => {
      isPosting = false;
      await posting;
      while ((await wakeParked()) > 0) await pause();
      for (const session of sessions) {
        const last = await insist(() => stage.service.read(tenant, session.id));
        const events = await countEvents(stage, session.id);
        while (session.seen.length < events && (session.seen.at(-1)?.sequence ?? 0) < last.sequence) await pause();
      }
      stopped.abort();
      await Promise.all(follows);
      return { posted, sessions };
    },
  };
};

const unfinished =
  "select id, state from parley.session where unread > 0 or owner is not null or state not in ('idle', 'child')";

const countEvents = async (stage: WorkerStage, id: string): Promise<number> => {
  let count = 0;
  for await (const _ of stage.service.follow(tenant, id, {
    after: 0,
    untilIdle: true,
    signal: new AbortController().signal,
  }))
    count += 1;
  return count;
};

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 50));

/** Repeats an operation until the database is there. */
const insist = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      await pause();
    }
};

const isUnavailable = (error: unknown): boolean =>
  error instanceof ServiceError ? error.failure.kind === "unavailable" : isConnectionFailure(error);
