import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPostgresSessions } from "../src/postgres/store.ts";
import type { Session } from "../src/session/session.ts";
import { openSessionStore } from "../src/session/store/store.ts";
import { realWorld } from "../src/world/real/world.ts";
import { openTestDatabase, startCluster } from "../test/support/postgres.ts";

/*
 * Appends of one entry of 600 bytes, one at a time, each awaited until it is durable: on PostgreSQL with flushing on, and
 * in a session file. Blocks of both take turns in one run. Prints medians and their ratio; the limit is 2.5. A bare insert
 * of the same bytes into a table without an index shows the floor: one round trip and one flush of the log.
 */

const [, , rounds = "20", block = "100"] = process.argv;
const limit = 2.5;

const world = realWorld();
const home = await mkdtemp(join(tmpdir(), "parley-bench-store-"));
const cluster = await startCluster({ isSafe: true });
const database = await openTestDatabase(cluster);
const sessions = openPostgresSessions({ database: database.pool, tenant: "bench", world });
const entry = { type: "user", parts: [{ type: "text", text: "x".repeat(560) }] } as const;

const measure = async (session: Pick<Session, "append">, count: number, times: number[]): Promise<void> => {
  for (let each = 0; each < count; each++) {
    const start = process.hrtime.bigint();
    await session.append([{ kind: "entry", entry }]);
    times.push(Number(process.hrtime.bigint() - start) / 1e6);
  }
};

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor(times.length * share)] ?? 0;

try {
  const stored = await sessions.create({ root: "/bench" });
  const file = await openSessionStore(world, { home }).create({ root: "/bench" });
  await measure(stored, 50, []);
  await measure(file, 50, []);
  await database.pool.query("create table bare (body text)");
  const bare: Pick<Session, "append"> = {
    append: async (records) => {
      await database.pool.query("insert into bare values ($1)", [JSON.stringify(records[0])]);
    },
  };
  await measure(bare, 50, []);
  const [onDatabase, inFile, onBareTable]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < Number(rounds); round++) {
    await measure(file, Number(block), inFile);
    await measure(bare, Number(block), onBareTable);
    await measure(stored, Number(block), onDatabase);
  }
  await stored.close();
  await file.close();
  const rows = [
    ["file log", inFile],
    ["bare insert", onBareTable],
    ["PostgreSQL", onDatabase],
  ] as const;
  for (const [name, times] of rows)
    process.stdout.write(
      `${name.padEnd(12)} p50 ${percentile(times, 0.5).toFixed(2)} ms   p99 ${percentile(times, 0.99).toFixed(2)} ms   (${times.length} appends)\n`,
    );
  const floor = percentile(onBareTable, 0.5) / percentile(inFile, 0.5);
  process.stdout.write(`floor at the median ${floor.toFixed(2)} (bare insert against the file log)\n`);
  const ratio = percentile(onDatabase, 0.5) / percentile(inFile, 0.5);
  process.stdout.write(`ratio at the median ${ratio.toFixed(2)}, limit ${limit}\n`);
  process.exitCode = ratio <= limit ? 0 : 1;
} finally {
  await sessions.close();
  await database.close();
  await cluster.stop();
  await rm(home, { recursive: true, force: true });
}
