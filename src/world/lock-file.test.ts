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
import { identifyProcess } from "./real/process/identity.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const realPlace = async (life: ProcessIdentity = realWorld({}).processIdentity): Promise<LockContext> => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "parley-lock-")));
  folders.push(path);
  const world = realWorld({});
  return { ...world, processIdentity: life, folder: await world.disk.openFolder(path) };
};

/** Two programs on one simulated disk, each of which knows the other. */
const twoPlaces = async (): Promise<readonly [LockContext, LockContext]> => {
  const disk = simulatedDisk();
  disk.seed("/locks", { kind: "folder" });
  const place = async (me: string, seed: number): Promise<LockContext> => {
    const world = simulatedWorld({ disk, identity: me, seed });
    const life: ProcessIdentity = { current: async () => me, isAlive: async (who) => who === "1-0" || who === "2-0" };
    return { ...world, processIdentity: life, folder: await disk.openFolder("/locks") };
  };
  return [await place("1-0", 1), await place("2-0", 2)];
};

describe("a lock", () => {
  it("is one program's until it lets go, and says whose", async () => {
    const [one, two] = await twoPlaces();
    const held = await acquireLockFile(one, { name: "a" });
    expect(await acquireLockFile(two, { name: "a" })).toEqual({ taken: false, name: "a", by: "1-0" });
    expect(await acquireLockFile(one, { name: "a" })).toEqual({ taken: false, name: "a", by: "1-0" });
    expect((await acquireLockFile(two, { name: "b" })).acquired).toBe(true);
    expect(await acquireLockFile(two, { name: "c", conflictsWith: () => true })).toMatchObject({ taken: false });
    if (held.acquired) await held.release();

    expect((await acquireLockFile(two, { name: "a" })).acquired).toBe(true);
  });

  it("is taken by exactly one of many that ask at the same moment", async () => {
    const place = await realPlace();
    for (let round = 0; round < 20; round++) {
      const locks = await Promise.all(Array.from({ length: 5 }, () => acquireLockFile(place, { name: "a" })));
      expect(locks.filter(({ acquired: taken }) => taken)).toHaveLength(1);
      for (const lock of locks) if (lock.acquired) await lock.release();
    }
    expect(readdirSync(place.folder.path)).toEqual([]);
  });

  it("does not outlive a program that was killed, nor is it mistaken for that of a later one with its number", async () => {
    const { processIdentity: life } = realWorld({});
    const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"]);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const place = await realPlace();
    const { folder } = place;
    const word = (await identifyProcess(child.pid ?? 0)) ?? "";
    const plant = async (by: string): Promise<void> => {
      for (const state of ["wanted", "held"]) await (await folder.openAppend(`a.${by}.x.${state}`)).close();
    };
    await plant(word);
    expect(await acquireLockFile(place, { name: "a" })).toEqual({ taken: false, name: "a", by: word });
    expect([
      await life.isAlive(word),
      await life.isAlive(`${child.pid}-other-1`),
      await life.isAlive("nobody"),
    ]).toEqual([true, false, false]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
    await plant(`${process.pid}-earlier-1`);
    const lock = await acquireLockFile(place, { name: "a" });

    expect(lock.acquired).toBe(true);
    expect(readdirSync(folder.path).every((name) => name.includes(`.${process.pid}-`))).toBe(true);
    expect(await life.isAlive(await life.current())).toBe(true);
  });
});
