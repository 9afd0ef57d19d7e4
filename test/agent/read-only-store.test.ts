import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createInMemorySession } from "../../src/session/store/in-memory.ts";
import { simulatedWorld } from "../../src/world/simulated/world.ts";
import { bin, ensureBuilt, type Ran } from "../built.ts";

beforeAll(ensureBuilt);

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-unsaved-")));
  mkdirSync(join(base, "project"));
  mkdirSync(join(base, "locked"), { mode: 0o500 });
  writeFileSync(join(base, "project", "a.txt"), "hello\n");
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

/** A folder that cannot be created. Root may write everywhere except in /sys. */
const unwritable = (): string => (process.getuid?.() === 0 ? "/sys/parley" : join(base, "locked", "home"));

const parley = (...args: readonly string[]): Ran => {
  const ran = spawnSync(process.execPath, [bin, ...args], {
    cwd: join(base, "project"),
    env: { PATH: process.env["PATH"], HOME: base, PARLEY_HOME: unwritable() },
    encoding: "utf8",
  });
  return { code: ran.status, out: ran.stdout, err: ran.stderr };
};

describe("a session whose store cannot be written", () => {
  it("runs in memory, and warns that it is not saved", () => {
    const { code, out, err } = parley("-p", "read a.txt");
    expect([code, out.includes("hello")]).toEqual([0, true]);
    expect(err.split("\n")[0]).toMatch(
      /^parley: This session is not saved: it is kept in memory and lost when Parley ends\. .*sessions cannot be written \(E[A-Z]+\)\. Make it writable, or set PARLEY_HOME to a folder that is\.$/,
    );
  });

  it("cannot be resumed", () => {
    const { code, out, err } = parley("-c", "-p", "read a.txt");
    expect([code, out, err.includes("There is no session")]).toEqual([1, "", true]);
  });

  it("keeps all of its records for as long as it is open", async () => {
    const world = simulatedWorld();
    const session = await createInMemorySession(world, { root: "/project" });
    await session.append([{ kind: "title", title: "A title" }]);
    const kinds: string[] = [];
    for await (const { record } of session.records()) kinds.push(record.kind);
    await session.close();
    expect([kinds, await world.disk.canonicalPath("/sessions")]).toEqual([["head", "title"], undefined]);
  });
});
