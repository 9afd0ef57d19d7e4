import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { Life } from "./life.ts";
import { takeLock, type LockPlace } from "./lock.ts";
import { realWorld } from "./real.ts";
import { simulatedDisk } from "./simulated-disk.ts";
import { simulatedWorld } from "./simulated.ts";
import { wordFor } from "./real-life.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const realPlace = async (life: Life = realWorld({}).life): Promise<LockPlace> => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "parley-lock-")));
  folders.push(path);
  const world = realWorld({});
  return { ...world, life, folder: await world.disk.open(path) };
};

/** Two programs on one simulated disk, each of which knows the other. */
const twoPlaces = async (): Promise<readonly [LockPlace, LockPlace]> => {
  const disk = simulatedDisk();
  disk.plant("/locks", { kind: "folder" });
  const place = async (me: string, seed: number): Promise<LockPlace> => {
    const world = simulatedWorld({ disk, me, seed });
    const life: Life = { me: async () => me, isAlive: async (who) => who === "1-0" || who === "2-0" };
    return { ...world, life, folder: await disk.open("/locks") };
  };
  return [await place("1-0", 1), await place("2-0", 2)];
};

describe("a lock", () => {
  it("is one program's until it lets go, and says whose", async () => {
    const [one, two] = await twoPlaces();
    const held = await takeLock(one, { name: "a" });
    expect(await takeLock(two, { name: "a" })).toEqual({ taken: false, name: "a", by: "1-0" });
    expect(await takeLock(one, { name: "a" })).toEqual({ taken: false, name: "a", by: "1-0" });
    expect((await takeLock(two, { name: "b" })).taken).toBe(true);
    expect(await takeLock(two, { name: "c", against: () => true })).toMatchObject({ taken: false });
    if (held.taken) await held.release();

    expect((await takeLock(two, { name: "a" })).taken).toBe(true);
  });

  it("is taken by exactly one of many that ask at the same moment", async () => {
    const place = await realPlace();
    for (let round = 0; round < 20; round++) {
      const locks = await Promise.all(Array.from({ length: 5 }, () => takeLock(place, { name: "a" })));
      expect(locks.filter(({ taken }) => taken)).toHaveLength(1);
      for (const lock of locks) if (lock.taken) await lock.release();
    }
    expect(readdirSync(place.folder.path)).toEqual([]);
  });

  it("does not outlive a program that was killed, nor is it mistaken for that of a later one with its number", async () => {
    const { life } = realWorld({});
    const child = spawn(process.execPath, ["-e", "process.stdout.write('up'); setInterval(() => {}, 1000)"]);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const place = await realPlace();
    const { folder } = place;
    const word = (await wordFor(child.pid ?? 0)) ?? "";
    const plant = async (by: string): Promise<void> => {
      for (const state of ["wanted", "held"]) await (await folder.append(`a.${by}.x.${state}`)).close();
    };
    await plant(word);
    expect(await takeLock(place, { name: "a" })).toEqual({ taken: false, name: "a", by: word });
    expect([
      await life.isAlive(word),
      await life.isAlive(`${child.pid}-other-1`),
      await life.isAlive("nobody"),
    ]).toEqual([true, false, false]);
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill("SIGKILL");
    await ended;
    await plant(`${process.pid}-earlier-1`);
    const lock = await takeLock(place, { name: "a" });

    expect(lock.taken).toBe(true);
    expect(readdirSync(folder.path).every((name) => name.includes(`.${process.pid}-`))).toBe(true);
    expect(await life.isAlive(await life.me())).toBe(true);
  });
});
