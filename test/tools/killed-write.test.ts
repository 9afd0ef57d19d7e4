import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { openAgent } from "../../src/agent/open-agent.ts";
import { loadSettings } from "../../src/settings/load/load.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { createRealDisk } from "../../src/world/real/disk/disk.ts";
import { openProgramStage, type ProgramStage } from "../support/agent-program.ts";
import { bundleScript } from "../support/bundle-script.ts";

const realDisk = createRealDisk();

/*
 * A program that is killed in the middle of a write leaves a temporary file in the project; it is removed later.
 */

let stage: ProgramStage;
beforeEach(async () => {
  stage = await openProgramStage(["anthropic"], {
    script: ({ turns }) =>
      turns.some(({ by }) => by === "model")
        ? { parts: [{ type: "say", text: "Done." }] }
        : { parts: [{ type: "call", tool: "read_file", input: { path: "a.txt" } }] },
  });
  writeFileSync(join(stage.project, "a.txt"), "a");
});
afterEach(() => stage.close());

/** The script in one file: it starts in a fraction of the time. */
let writer: string;
let scripts: string;
beforeAll(() => {
  scripts = mkdtempSync(join(tmpdir(), "parley-killed-write-"));
  writer = bundleScript(fileURLToPath(new URL("../support/write-killed.ts", import.meta.url)), scripts);
});
afterAll(() => rmSync(scripts, { recursive: true }));

/** Leaves a temporary file behind for a path and returns its path. */
const killWrite = (path: string): string => {
  const folder = join(stage.project, dirname(path));
  mkdirSync(folder, { recursive: true });
  const before = readdirSync(folder);
  const { signal } = spawnSync(process.execPath, [writer, stage.project, path]);
  const [left = "", ...others] = readdirSync(folder).filter((name) => !before.includes(name));
  expect({ signal, others, isTemporary: left.endsWith(".tmp") }).toEqual({
    signal: "SIGKILL",
    others: [],
    isTemporary: true,
  });
  return join(folder, left);
};

const makeOld = (path: string): void => {
  const old = Date.now() / 1000 - 11;
  utimesSync(path, old, old);
};

const git = (...words: readonly string[]): string =>
  execFileSync("git", ["-C", stage.project, ...words], { encoding: "utf8" });

it("the next session in a workspace removes the stale temporary file of a killed write, and no other file", async () => {
  const [old, fresh] = [killWrite("src/deep/old.txt"), killWrite("src/fresh.txt")];
  makeOld(old);
  // Fresh however long this takes.
  utimesSync(fresh, Date.now() / 1000 + 3600, Date.now() / 1000 + 3600);
  const own = join(stage.project, "src", ".cafe0123456789ab.tmp");
  writeFileSync(own, "a file of the person");
  makeOld(own);
  git("init", "--quiet");
  const world = realWorld(stage.env);
  const loaded = await loadSettings(world, {
    home: stage.home,
    root: stage.project,
    scope: "inert",
    flags: { model: ["anthropic"], "approval-mode": ["yolo"] },
  });
  const session = { world, home: stage.home, folder: stage.project, loaded, interactive: false };
  const untracked = (): readonly string[] =>
    git("status", "--porcelain", "--untracked-files=all")
      .split("\n")
      .filter((line) => line.endsWith(".tmp"))
      .map((line) => join(stage.project, line.slice(3)));
  expect(untracked().toSorted()).toEqual([old, fresh, own].toSorted());

  const run = async (): Promise<void> => {
    const { agent, close } = await openAgent(session);
    for await (const _ of agent.send("Read a.txt."));
    await close();
  };
  await run();
  expect(untracked().toSorted()).toEqual([fresh, own].toSorted());
  makeOld(fresh);
  await run();
  expect(untracked()).toEqual([own]);
});

it("the next write in a folder removes the stale temporary file of another file's killed write", async () => {
  const left = killWrite("src/half.txt");
  makeOld(left);
  const folder = await realDisk.openFolder(dirname(left));
  await folder.replaceFile("other.txt", Buffer.from("whole"), "absent");
  await folder.close();
  expect(readdirSync(dirname(left))).toEqual(["other.txt"]);
});
