import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it } from "vitest";
import { PolicyError } from "../error.ts";
import { createRealFixture, type WorkspaceFixture } from "./open.cases.ts";
import type { Workspace } from "./open.ts";
import { perTier } from "../../../test/support/tier.ts";

const reads = perTier({ quick: 300, all: 6000 });
const writes = perTier({ quick: 150, all: 2000 });

let fixture: WorkspaceFixture;
afterEach(() => fixture.close());

/** As many as the system works on at once. */
const together = 4;

/** Memory is quick to flush, so there are more tries in a second. */
const parent = existsSync("/dev/shm") ? "/dev/shm" : undefined;

/** The swaps that a thread repeats in the workspace. A file in the way, such as one just written, is removed. */
const turns = {
  folder: `
    renameSync(ws + "/d", ws + "/real");
    symlinkSync(out, ws + "/d");
    unlinkSync(ws + "/d");
    renameSync(ws + "/real", ws + "/d");`,
  leaf: `
    symlinkSync(out + "/secret.txt", ws + "/d/link");
    renameSync(ws + "/d/link", ws + "/d/secret.txt");
    linkSync(ws + "/original", ws + "/d/file");
    renameSync(ws + "/d/file", ws + "/d/secret.txt");`,
  nothing: `
    symlinkSync(out + "/new.txt", ws + "/d/new.txt");
    unlinkSync(ws + "/d/new.txt");`,
};
type Swap = keyof typeof turns;

const flipping = (swap: Swap): string => `
const { existsSync, renameSync, symlinkSync, unlinkSync, linkSync, rmSync } = require("node:fs");
const { workerData: { ws, out, counter } } = require("node:worker_threads");
const attempt = (work) => {
  try {
    work();
    return true;
  } catch {
    return false;
  }
};
const turn = () => {${turns[swap]}};
const clear = () => {
  for (const name of ["link", "file", "new.txt"]) rmSync(ws + "/d/" + name, { force: true });
  if (!existsSync(ws + "/real")) return;
  rmSync(ws + "/d", { recursive: true, force: true });
  renameSync(ws + "/real", ws + "/d");
};
while (Atomics.load(counter, 0) === 0)
  if (attempt(turn)) Atomics.add(counter, 1, 1);
  else attempt(clear);
`;

type Flips = { readonly count: () => number; readonly stop: () => Promise<void> };

const startFlips = async (swap: Swap): Promise<Flips> => {
  const counter = new Int32Array(new SharedArrayBuffer(8));
  const { ws, out } = fixture;
  const worker = new Worker(flipping(swap), { eval: true, workerData: { ws, out, counter } });
  const ended = new Promise<number>((resolve, reject) => worker.once("error", reject).once("exit", resolve));
  while (Atomics.load(counter, 1) === 0) await new Promise((resolve) => setImmediate(resolve));
  return {
    count: () => Atomics.load(counter, 1),
    stop: async () => {
      Atomics.store(counter, 0, 1);
      await ended;
    },
  };
};

/** The result of an attempt. Anything but the inside content or a refusal fails the test. */
const tried = async (work: Promise<Uint8Array | void>): Promise<string> => {
  try {
    const bytes = await work;
    return bytes === undefined ? "written" : new TextDecoder().decode(bytes);
  } catch (error) {
    if (error instanceof PolicyError) return "refused";
    throw error;
  }
};

const inside = new TextEncoder().encode("inside");

type Attempt = (workspace: Workspace, turn: number) => Promise<string>;

const attempts: { readonly [what in "read" | "write" | "create" | "make folders"]: Attempt } = {
  read: (workspace) => tried(workspace.bytes("d/secret.txt", 100)),
  write: (workspace) =>
    tried(workspace.resolve("d/secret.txt").then(({ identity }) => workspace.write("d/secret.txt", inside, identity))),
  create: (workspace) => tried(workspace.write("d/new.txt", inside, "absent")),
  "make folders": (workspace, turn) => tried(workspace.write(`d/new/${turn % 16}`, inside, "absent")),
};

// By paths alone this cannot be promised.
describe.runIf(existsSync("/proc/self/fd"))(
  "a workspace in which files are swapped for links that lead outside",
  () => {
    it.each([
      { what: "read", swap: "folder", tries: reads },
      { what: "read", swap: "leaf", tries: reads },
      { what: "write", swap: "folder", tries: writes },
      { what: "write", swap: "leaf", tries: writes },
      { what: "create", swap: "nothing", tries: writes },
      { what: "make folders", swap: "folder", tries: writes },
    ] as const)(
      "cannot be made to $what outside by swapping a $swap, in $tries tries or more",
      async ({ what, swap, tries }) => {
        fixture = createRealFixture(undefined, parent);
        const { ws } = fixture;
        mkdirSync(`${ws}/d`);
        for (const path of [`${ws}/original`, `${ws}/d/secret.txt`]) writeFileSync(path, "inside");
        const before = fixture.outside();
        const workspace = await fixture.open();
        const flips = await startFlips(swap);
        const started = flips.count();
        const counts = { inside: 0, written: 0, refused: 0, other: new Set<string>() };
        const attempt = async (turn: number): Promise<void> => {
          const came = await attempts[what](workspace, turn);
          if (came === "inside" || came === "written" || came === "refused") counts[came] += 1;
          else counts.other.add(came);
        };
        // On a busy machine the other thread may not have its turn for long: go on until some tries met a link and some did not.
        const wasRace = (): boolean => counts.refused > 0 && counts.inside + counts.written > 0;
        for (let turn = 0; turn < tries || !wasRace(); turn += together)
          await Promise.all(Array.from({ length: together }, (_, index) => attempt(turn + index)));
        const flipped = flips.count() - started;
        await flips.stop();

        expect([...counts.other]).toEqual([]);
        expect(fixture.outside()).toEqual(before);
        expect(flipped).toBeGreaterThan(0);
      },
    );
  },
);
