import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type pg from "pg";
import { createSessionRow } from "../../../src/postgres/create.ts";
import { isConnectionFailure } from "../../../src/postgres/database.ts";
import { postCommand } from "../../../src/postgres/ownership.ts";
import { checkStore } from "../../../src/postgres/transfer.ts";
import { realWorld } from "../../../src/world/real/world.ts";
import { root } from "../../built.ts";
import { bundleScript } from "../../support/bundle-script.ts";
import { openTestDatabase, startCluster } from "../../support/postgres.ts";
import { Random } from "../../support/random.ts";

/** The findings of a run of kills. `problems` is empty if every promise held. */
export type FleetKillReport = {
  readonly workersKilled: number;
  readonly databasesKilled: number;
  readonly posted: number;
  readonly acknowledged: number;
  readonly ran: number;
  readonly unknown: number;
  readonly problems: readonly string[];
};

const tenant = "kills";

/**
 * Kills workers, and now and then the whole database, while commands are posted. Afterwards: nothing that was
 * acknowledged is lost, each command was taken once, and no call ran twice.
 */
export const killFleet = async (
  { workers: workerKills, databases: databaseKills }: { readonly workers: number; readonly databases: number },
  seed: number,
): Promise<FleetKillReport> => {
  const random = new Random(seed);
  const world = realWorld();
  const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-fleet-kill-")));
  const cluster = await startCluster({ isSafe: true });
  const database = await openTestDatabase(cluster);
  const program = bundleScript(join(root, "test/fleet/support/kill-child.ts"), folder);
  const acknowledged: { readonly session: string; readonly sequence: number; readonly name: string }[] = [];
  const start = (): ChildProcess => {
    const child = spawn(process.execPath, [program, database.url, folder, "1000"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let rest = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const [word, session = "", sequence, name = ""] = line.split(" ");
        if (word === "done") acknowledged.push({ session, sequence: Number(sequence), name });
      }
    });
    return child;
  };
  const children = [start(), start(), start()];
  try {
    const ids = await Promise.all(
      Array.from(
        { length: 6 },
        async () => (await createSessionRow({ database: database.pool, tenant, world }, { start: { root: "/" } })).id,
      ),
    );
    const posted = new Set<string>();
    let isPosting = true;
    const posting = (async () => {
      for (let number = 1; isPosting; number++) {
        const name = `call-${number}`;
        const id = ids[number % ids.length]!;
        // A sender repeats what was not acknowledged, with the same key.
        await insist(() =>
          postCommand(database.pool, { tenant, id }, { key: name, command: JSON.stringify({ name }) }),
        );
        posted.add(name);
        await world.clock.sleep(4);
      }
    })();
    let [workersKilled, databasesKilled] = [0, 0];
    while (workersKilled < workerKills || databasesKilled < databaseKills) {
      await world.clock.sleep(20 + random.below(200));
      const isDatabase =
        databasesKilled < databaseKills &&
        (workersKilled >= workerKills || random.below(workerKills + databaseKills) < databaseKills);
      if (isDatabase) {
        await cluster.kill();
        databasesKilled += 1;
        await cluster.start();
      } else {
        const at = random.below(children.length);
        children[at]!.kill("SIGKILL");
        children[at] = start();
        workersKilled += 1;
      }
    }
    isPosting = false;
    await posting;
    for (let left = 1; left > 0;) {
      const { rows } = await insist(() =>
        database.pool.query(
          "select count(*)::int as left from parley.session where unread > 0 or owner is not null or state <> 'idle'",
        ),
      );
      left = (rows[0] as { readonly left: number }).left;
      await world.clock.sleep(50);
    }
    await Promise.all(children.map(endChild));
    return await examine({ pool: database.pool, folder, posted, acknowledged, workersKilled, databasesKilled });
  } finally {
    await Promise.all(children.map(endChild));
    await database.close();
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  }
};

const endChild = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once("close", () => resolve());
    child.kill("SIGKILL");
  });

/** Repeats a statement until the database is there. */
const insist = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (;;)
    try {
      return await work();
    } catch (error) {
      if (!isConnectionFailure(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
};

type Evidence = Pick<FleetKillReport, "workersKilled" | "databasesKilled"> & {
  readonly pool: pg.Pool;
  readonly folder: string;
  readonly posted: ReadonlySet<string>;
  readonly acknowledged: readonly { readonly session: string; readonly sequence: number; readonly name: string }[];
};

const examine = async ({ pool, folder, posted, acknowledged, ...kills }: Evidence): Promise<FleetKillReport> => {
  const problems: string[] = [];
  const { rows } = await pool.query(
    "select session, sequence::int as sequence, body from parley.record where tenant = $1 order by session, sequence",
    [tenant],
  );
  const events = new Map<string, string[]>();
  const bySequence = new Map<string, string>();
  for (const row of rows as readonly { readonly session: string; readonly sequence: number; readonly body: string }[]) {
    const text = /"text":"(\w+) (call-\d+)"/.exec(row.body);
    if (text === null) continue;
    const [, word = "", name = ""] = text;
    events.set(name, [...(events.get(name) ?? []), word]);
    bySequence.set(`${row.session} ${row.sequence}`, `${word} ${name}`);
  }
  for (const { session, sequence, name } of acknowledged)
    if (bySequence.get(`${session} ${sequence}`) !== `done ${name}`) problems.push(`acknowledged ${name} is lost`);
  const ran = (await readFile(join(folder, "ran.txt"), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "");
  const runs = new Map<string, number>();
  for (const name of ran) runs.set(name, (runs.get(name) ?? 0) + 1);
  for (const name of posted) {
    const story = (events.get(name) ?? []).join(" ");
    if (story !== "begin done" && story !== "begin unknown") problems.push(`${name}: ${story || "never taken"}`);
  }
  for (const [name, count] of runs) if (count > 1) problems.push(`${name} ran ${count} times`);
  for await (const found of checkStore({ database: pool, tenant }))
    if ("problem" in found) problems.push(found.problem);
  const unknown = [...events.values()].filter((story) => story.includes("unknown")).length;
  return { ...kills, posted: posted.size, acknowledged: acknowledged.length, ran: ran.length, unknown, problems };
};
