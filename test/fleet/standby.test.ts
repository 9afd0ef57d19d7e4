import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import type { SqlDatabase } from "../../src/postgres/database.ts";
import { postCommand } from "../../src/postgres/ownership.ts";
import { openPostgresSessions } from "../../src/postgres/store.ts";
import { checkStore } from "../../src/postgres/transfer.ts";
import { userRecord } from "../../src/session/session.cases.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { canCopyCluster, describeOnPostgres, openTestDatabase, startCluster } from "../support/postgres.ts";
import { perTier } from "../support/tier.ts";

const amounts = perTier({ quick: { sessions: 2, appends: 10 }, all: { sessions: 6, appends: 60 } });

const itCopies = it.runIf(canCopyCluster());

describeOnPostgres("a database with a synchronous standby", () => {
  itCopies("loses nothing acknowledged when its primary is lost, and sessions continue on the standby", async () => {
    const primary = await startCluster({ isSafe: true });
    onTestFinished(primary.stop);
    const database = await openTestDatabase(primary);
    const standby = await startCluster({ isSafe: true, standbyOf: primary });
    onTestFinished(standby.stop);
    await database.pool.query("alter system set synchronous_standby_names = '*'");
    await database.pool.query("select pg_reload_conf()");
    const isSynchronous = async (): Promise<boolean> =>
      (await database.pool.query("select from pg_stat_replication where sync_state = 'sync'")).rows.length === 1;
    while (!(await isSynchronous())) await new Promise((resolve) => setTimeout(resolve, 20));

    // One address that follows the primary, as drivers know no lists of hosts.
    let pool = database.pool;
    const following: SqlDatabase = { query: (text, values) => pool.query(text, values as unknown[]) };
    const sessions = openPostgresSessions({ database: following, tenant: "acme", world: realWorld() });
    const acknowledged: string[] = [];
    let isLost = false;
    const write = async (number: number): Promise<string> => {
      const session = await sessions.create({ root: "/project" });
      for (let at = 0; at < amounts.appends; at++) {
        const words = `${number}-${at}`;
        await session.append([userRecord(words)]);
        acknowledged.push(words);
        // The first to come this far loses the primary for all of them.
        if (at === amounts.appends / 2 && !isLost) {
          isLost = true;
          await failOver();
        }
      }
      await session.close();
      return session.id;
    };
    const failOver = async (): Promise<void> => {
      await primary.kill();
      const promoted = new pg.Pool({ connectionString: standby.url(new URL(database.url).pathname.slice(1)), max: 8 });
      promoted.on("error", () => undefined);
      await promoted.query("select pg_promote(true, 60)");
      // A new primary waits for no standby of its own here.
      await promoted.query("alter system reset synchronous_standby_names");
      await promoted.query("select pg_reload_conf()");
      pool = promoted;
    };
    const ids = await Promise.all(Array.from({ length: amounts.sessions }, (_, number) => write(number)));
    expect(isLost).toBe(true);

    for (const [number, id] of ids.entries()) {
      const texts: string[] = [];
      for await (const { record } of (await sessions.read(id)).records())
        if (record.kind === "entry" && record.entry.type === "user") texts.push(JSON.stringify(record.entry.parts));
      expect(texts.map((text) => /\d+-\d+/.exec(text)?.[0])).toEqual(
        Array.from({ length: amounts.appends }, (_, at) => `${number}-${at}`),
      );
    }
    expect(acknowledged).toHaveLength(amounts.sessions * amounts.appends);
    const posted = await postCommand(following, { tenant: "acme", id: ids[0]! }, { key: "k", command: "{}" });
    expect(posted?.id).toBeDefined();
    const problems: string[] = [];
    for await (const found of checkStore({ database: following, tenant: "acme" }))
      if ("problem" in found) problems.push(found.problem);
    expect(problems).toEqual([]);
    await sessions.close();
    await pool.end();
    await database.close();
  });
});
