import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSessionRow } from "../../src/postgres/create.ts";
import { postCommand } from "../../src/postgres/ownership.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { root } from "../built.ts";
import { bundleScript } from "../support/bundle-script.ts";
import { describeOnPostgres, openTestDatabase } from "../support/postgres.ts";

/** A worker process, and what it prints. */
const startChild = (program: string, args: readonly string[]) => {
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  const waiting: (() => void)[] = [];
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
    for (const wake of waiting.splice(0)) wake();
  });
  const waitFor = async (words: string): Promise<void> => {
    while (!printed.includes(words)) await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const end = (): Promise<void> =>
    new Promise((resolve) => {
      child.once("close", () => resolve());
      child.kill("SIGKILL");
    });
  return { child, waitFor, end };
};

describeOnPostgres("a worker that is paused past its lease", () => {
  it("cannot write when it wakes up: another worker has its session", async () => {
    const database = await openTestDatabase();
    const folder = await realpath(await mkdtemp(join(tmpdir(), "parley-zombie-")));
    const program = bundleScript(join(root, "test/fleet/support/kill-child.ts"), folder);
    const start = () => startChild(program, [database.url, folder, "1000"]);
    const [tenant, world] = ["zombie", realWorld()];
    const { id } = await createSessionRow({ database: database.pool, tenant, world }, { start: { root: "/" } });
    const post = (name: string) =>
      postCommand(database.pool, { tenant, id }, { key: name, command: JSON.stringify({ name }) });
    const zombie = start();
    await zombie.waitFor("enlisted");
    await post("call-1");
    await zombie.waitFor("call-1");
    // Paused while the session is its own: with it, the worker would write next.
    await database.pool.query(
      "update parley.session set owner = (select id from parley.worker), state = 'running', fence = fence + 1",
    );
    zombie.child.kill("SIGSTOP");
    await post("call-2");
    const heir = start();
    await heir.waitFor("call-2");
    zombie.child.kill("SIGCONT");
    await zombie.waitFor("fenced");
    await heir.end();
    await zombie.end();

    const { rows } = await database.pool.query(
      "select sequence::int as sequence, fence::int as fence from parley.record order by sequence",
    );
    const records = rows as readonly { readonly sequence: number; readonly fence: number }[];
    expect(records.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
    expect(records.map(({ fence }) => fence)).toEqual(
      records.map(({ fence }) => fence).toSorted((one, other) => one - other),
    );
    await database.close();
    await rm(folder, { recursive: true, force: true });
  });
});
