import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ProcessIdentity } from "./process-identity.ts";
import { acquireLockFile, type LockContext } from "./lock-file.ts";
import { realWorld } from "./real/world.ts";
import { simulatedDisk } from "./simulated/disk.ts";
import { simulatedWorld } from "./simulated/world.ts";
import { createSyncFileCalls } from "./real/sync-file-calls.ts";
import { identifyProcess } from "./real/process/identity.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const realPlace = async (processIdentity: ProcessIdentity = realWorld({}).processIdentity): Promise<LockContext> => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "parley-lock-")));
  folders.push(path);
  const world = realWorld({});
  return { ...world, processIdentity, folder: await world.disk.openFolder(path) };
};

/** Two processes on one simulated disk, each of which knows the other. */
const twoPlaces = async (): Promise<readonly [LockContext, LockContext]> => {
  const disk = simulatedDisk();
  disk.seed("/locks", { kind: "folder" });
  const context = async (identity: string, seed: number): Promise<LockContext> => {
    const world = simulatedWorld({ disk, identity, seed });
    const processIdentity: ProcessIdentity = {
      current: async () => identity,
      isAlive: async (who) => who === "1-0" || who === "2-0",
      isOwnProcess: () => false,
    };
    return { ...world, processIdentity, folder: await disk.openFolder("/locks") };
  };
  return [await context("1-0", 1), await context("2-0", 2)];
};

describe("a lock", () => {
  it("belongs to one process until it is released, and names its holder", async () => {
    const [one, two] = await twoPlaces();
    const held = await acquireLockFile(one, { name: "a" });
    expect(await acquireLockFile(two, { name: "a" })).toEqual({ acquired: false, name: "a", holder: "1-0" });
    expect(await acquireLockFile(one, { name: "a" })).toEqual({ acquired: false, name: "a", holder: "1-0" });
    expect((await acquireLockFile(two, { name: "b" })).acquired).toBe(true);
    expect(await acquireLockFile(two, { name: "c", conflictsWith: () => true })).toMatchObject({ acquired: false });
    if (held.acquired) await held.release();

    expect((await acquireLockFile(two, { name: "a" })).acquired).toBe(true);
  });

  it("is acquired by exactly one of many concurrent requests", async () => {
    const context = await realPlace();
    for (let round = 0; round < 20; round++) {
      const locks = await Promise.all(Array.from({ length: 5 }, () => acquireLockFile(context, { name: "a" })));
      expect(locks.filter(({ acquired }) => acquired)).toHaveLength(1);
      for (const lock of locks) if (lock.acquired) await lock.release();
    }
    expect(readdirSync(context.folder.path)).toEqual([]);
  });

  it("is free after its holder was killed, even if the process id was reused", async () => {
    const { processIdentity } = realWorld({});
    const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"]);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const context = await realPlace();
    const { folder } = context;
    const word = (await identifyProcess(createSyncFileCalls(), child.pid ?? 0)) ?? "";
    const plant = async (holder: string): Promise<void> => {
      for (const state of ["wanted", "held"]) await (await folder.openAppend(`a.${holder}.x.${state}`)).close();
    };
    await plant(word);
    expect(await acquireLockFile(context, { name: "a" })).toEqual({ acquired: false, name: "a", holder: word });
    expect([
      await processIdentity.isAlive(word),
      await processIdentity.isAlive(`${child.pid}-other-1`),
      await processIdentity.isAlive("unknown"),
    ]).toEqual([true, false, false]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
    await plant(`${process.pid}-earlier-1`);
    const lock = await acquireLockFile(context, { name: "a" });

    expect(lock.acquired).toBe(true);
    expect(readdirSync(folder.path).every((name) => name.includes(`.${process.pid}-`))).toBe(true);
    expect(await processIdentity.isAlive(await processIdentity.current())).toBe(true);
  });
});
