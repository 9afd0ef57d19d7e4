import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { text } from "../src/conversation/builders.ts";
import { openTestDatabase, startCluster, type TestDatabase } from "../test/support/postgres.ts";
import { openWorkerStage, tenant } from "../test/fleet/support/program-stage.ts";

/*
 * npm run bench:fleet [-- SECONDS [TURNS [WAIT]]]: real worker programs on a real database, in one run.
 *
 * Parked sessions: the processor time of a worker and the database over SECONDS, with 10,000 parked sessions and without
 * any. Turns: what a second worker adds to the turns a second of the first. The model is in this process and waits for
 * WAIT milliseconds before each answer, as a real one would, so that the workers wait for it and not for a core. The
 * processor time is printed too: the figure means nothing where the cores are full.
 */

const [, , seconds = "60", turns = "80", wait = "2000"] = process.argv;
const parkedSessions = 10_000;

type Processors = { readonly worker: number; readonly database: number };

/** The processor time of processes in seconds, with that of their ended children where `isTree`. */
const readTimes = (pid: number, isTree: boolean): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ")
    .map(Number);
  return fields.slice(11, isTree ? 15 : 13).reduce((sum, ticks) => sum + ticks, 0) / 100;
};

const childrenOf = (parent: number): readonly number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          Number(
            readFileSync(`/proc/${pid}/stat`, "utf8")
              .replace(/^.*\) /, "")
              .split(" ")[1],
          ) === parent
        );
      } catch {
        return false;
      }
    });

const readDatabaseTime = (postmaster: number): number =>
  readTimes(postmaster, true) + childrenOf(postmaster).reduce((sum, pid) => sum + readTimes(pid, false), 0);

const measureIdle = async (
  database: TestDatabase,
  postmaster: number,
  parked: number,
): Promise<Processors & { readonly waited: number }> => {
  const stage = await openWorkerStage(database, {
    slots: 1,
    model: () => ({ parts: [{ type: "say", text: "Yes." }] }),
  });
  await database.pool.query(
    `insert into parley.session (tenant, id, project, format, state, fence, sequence, entries, bytes, created, modified, summary)
      select 'tenant-' || n % 100, 'parked' || n, '/', 1, 'parked', 1, 1, 0, 0, 0, 0, '' from generate_series(1, $1) n`,
    [parked],
  );
  await database.pool.query("analyze parley.session");
  const worker = stage.startWorker(0);
  await worker.waitFor("Ready");
  // The start is not measured, nor the code cache that it writes a while later.
  await new Promise((resolve) => setTimeout(resolve, 15_000));
  const read = () => ({
    worker: readTimes(worker.child.pid!, false),
    database: readDatabaseTime(postmaster),
    at: performance.now(),
  });
  const before = read();
  await new Promise((resolve) => setTimeout(resolve, Number(seconds) * 1000));
  const after = read();
  await stage.close();
  await database.pool.query("delete from parley.session");
  return {
    worker: after.worker - before.worker,
    database: after.database - before.database,
    waited: (after.at - before.at) / 1000,
  };
};

/** Returns the turns a second of so many workers, and how many cores all processes of this measurement used. */
const measureTurns = async (
  database: TestDatabase,
  postmaster: number,
  workers: number,
): Promise<{ readonly rate: number; readonly cores: number }> => {
  const stage = await openWorkerStage(database, {
    slots: workers,
    model: () => ({ parts: [{ type: "say", text: "Yes." }] }),
    beforeAnswer: () => new Promise((resolve) => setTimeout(resolve, Number(wait))),
  });
  const started = Array.from({ length: workers }, (_, slot) => stage.startWorker(slot, ["--most", "8"]));
  await Promise.all(started.map((worker) => worker.waitFor("Ready")));
  const count = async (): Promise<number> =>
    Number(
      (await database.pool.query(`select count(*) as n from parley.record where body like '{"kind":"turn"%'`)).rows[0]
        .n,
    );
  const readUsed = (): number => {
    const { user, system } = process.cpuUsage();
    const others = started.reduce((sum, { child }) => sum + readTimes(child.pid!, false), 0);
    return (user + system) / 1e6 + others + readDatabaseTime(postmaster);
  };
  const round = async (): Promise<{ readonly rate: number; readonly cores: number }> => {
    const before = await count();
    const ids = await Promise.all(Array.from({ length: 8 * workers }, () => stage.create()));
    const [start, used] = [performance.now(), readUsed()];
    const wanted = Number(turns) * workers;
    for (let turn = 0; turn < wanted; turn++)
      await stage.service.post(tenant, ids[turn % ids.length]!, { command: { type: "user", parts: [text("Hello.")] } });
    while ((await count()) - before < wanted) await new Promise((resolve) => setTimeout(resolve, 50));
    const took = (performance.now() - start) / 1000;
    return { rate: wanted / took, cores: (readUsed() - used) / took };
  };
  // The first round loads and compiles.
  await round();
  const rounds = [await round(), await round()];
  await stage.close();
  await database.pool.query("delete from parley.session; delete from parley.record");
  return rounds.toSorted((one, other) => other.rate - one.rate)[0]!;
};

const cluster = await startCluster({ isSafe: true });
const database = await openTestDatabase(cluster);
try {
  const { rows } = await database.pool.query(
    "select split_part(pg_read_file('postmaster.pid'), E'\\n', 1)::int as pid",
  );
  const postmaster = (rows[0] as { readonly pid: number }).pid;
  const share = (used: number, waited: number): string => `${((100 * used) / waited).toFixed(2)} %`;
  for (const parked of [0, parkedSessions]) {
    const { worker, database: time, waited } = await measureIdle(database, postmaster, parked);
    process.stdout.write(
      `${String(parked).padStart(6)} parked sessions, one idle worker: ${share(worker, waited)} of a core for the worker, ${share(time, waited)} for the database\n`,
    );
  }
  const [one, two] = [await measureTurns(database, postmaster, 1), await measureTurns(database, postmaster, 2)];
  const describeTurns = ({ rate, cores }: typeof one): string => `${rate.toFixed(2)} (${cores.toFixed(2)} cores used)`;
  process.stdout.write(
    `turns a second: ${describeTurns(one)} with one worker, ${describeTurns(two)} with two; the second adds ${(two.rate / one.rate - 1).toFixed(2)} of the first (limit 0.8 until the ${availableParallelism()} cores are full); load ${loadavg()[0]?.toFixed(1)}\n`,
  );
} finally {
  await database.close();
  await cluster.stop();
}
