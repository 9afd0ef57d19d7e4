import { spawn } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSessionStore } from "../../src/session/store/store.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { buildChildProgram, killPrograms } from "./support/kill.ts";
import { perTier, seedFor } from "../support/tier.ts";

const kills = perTier({ quick: 4, all: 40 });
const rounds = perTier({ quick: 1, all: 3 });

describe("real processes", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), "parley-session-")));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("lose nothing acknowledged when they are killed, and the next process continues", async () => {
    const { killed, broken } = await killPrograms(kills, seedFor(7));
    expect({ killed, broken }).toEqual({ killed: kills, broken: undefined });
  });

  it("cannot both open one session at the same time", async () => {
    const home = join(folder, "home");
    const child = buildChildProgram(folder);
    const { id, close } = await openSessionStore(realWorld({}), { home }).create({ root: "/home/someone/code" });
    await close();
    for (let round = 0; round < rounds; round++) {
      const programs = await Promise.all(Array.from({ length: 4 }, () => runChild(child, [home, "1", id])));
      const [won, lost] = [programs.filter(({ code }) => code === 0), programs.filter(({ code }) => code !== 0)];
      expect(won.length).toBeGreaterThan(0);
      expect(lost.filter(({ err }) => !/is open in another program \(process \d+\)/.test(err))).toEqual([]);
    }
    const session = await openSessionStore(realWorld({}), { home }).open(id);
    expect(session.damage.filter(({ kind }) => kind !== "missing-blob")).toEqual([]);
    await session.close();
  });

  it("get the process id of the lock holder", async () => {
    const home = join(folder, "home");
    const child = buildChildProgram(folder);
    const session = await openSessionStore(realWorld({}), { home }).create({ root: "/home/someone/code" });
    const { code, err } = await runChild(child, [home, "1", session.id]);
    await session.close();

    expect(code).toBe(1);
    expect(err).toContain(
      `Session ${session.id} is open in another program (process ${process.pid}). Close it there, or start a new session.`,
    );
    expect((await runChild(child, [home, "1", session.id])).code).toBe(0);
  });
});

const runChild = (
  script: string,
  args: readonly string[],
): Promise<{ readonly code: number | null; readonly err: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", "ignore", "pipe"] });
    let err = "";
    child.stderr.on("data", (piece: Buffer) => (err += piece.toString()));
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, err }));
  });
