/*
 * A worker as a process of its own, to be killed: kill-child URL HOME. It takes sessions, and for each command runs a
 * "tool": a line in a file, written before its record. What it acknowledged it prints.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { WorkerLease } from "../../../src/postgres/lease.ts";
import { readSessionCommands, reapWorkers, releaseSession, takeSessions } from "../../../src/postgres/ownership.ts";
import { openClaimed } from "../../../src/postgres/store.ts";
import { realWorld } from "../../../src/world/real/world.ts";

const [, , url = "", folder = "", lease = "1000"] = process.argv;
const world = realWorld();
const pool = new pg.Pool({ connectionString: url, max: 4, query_timeout: 5000, connectionTimeoutMillis: 2000 });
pool.on("error", () => undefined);

const serve = async (): Promise<void> => {
  const worker = await WorkerLease.open(pool, {
    clock: world.clock,
    random: world.random,
    drives: true,
    leaseMs: Number(lease),
    onLost: () => process.stdout.write("fenced\n"),
  });
  process.stdout.write(`enlisted ${worker.id}\n`);
  while (!worker.isLost) {
    await reapWorkers(pool, 1000);
    for (const taken of await takeSessions(pool, worker.id, 4)) {
      let beginning: number | undefined;
      const commands = {
        // One commit holds the beginning of a call and the command that asked for it.
        answeredBy: () => (beginning === undefined ? [] : [beginning]),
        onTaken: () => (beginning = undefined),
      };
      const session = await openClaimed(
        { database: pool, tenant: taken.tenant, world },
        { ...taken, isLost: () => worker.isLost, commands, releases: false },
      );
      // Calls a former owner began and did not finish: told, never repeated.
      const begun = new Set<string>();
      for await (const { record } of session.records()) {
        if (record.kind !== "entry" || record.entry.type !== "notice") continue;
        const [word = "", name = ""] = record.entry.text.split(" ");
        if (word === "begin") begun.add(name);
        if (word === "done" || word === "unknown") begun.delete(name);
      }
      for (const name of begun)
        await session.append([{ kind: "entry", entry: { type: "notice", text: `unknown ${name}` } }]);
      for (const { id, command } of await readSessionCommands(pool, taken)) {
        const name = (JSON.parse(command) as { readonly name: string }).name;
        beginning = id;
        await session.append([{ kind: "entry", entry: { type: "notice", text: `begin ${name}` } }]);
        appendFileSync(join(folder, "ran.txt"), `${name}\n`);
        await session.append([{ kind: "entry", entry: { type: "notice", text: `done ${name}` } }]);
        process.stdout.write(`done ${taken.id} ${session.sequence()} ${name}\n`);
      }
      await releaseSession(pool, taken);
    }
    await world.clock.sleep(5);
  }
};

for (;;) {
  await serve().catch(() => undefined);
  await world.clock.sleep(50);
}
