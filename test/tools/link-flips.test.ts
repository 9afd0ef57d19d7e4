import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { glob } from "../../src/tools/search/glob.ts";
import { listDirectory } from "../../src/tools/files/list-directory.ts";
import { readManyFiles } from "../../src/tools/files/read-many-files.ts";
import { runShellCommand } from "../../src/tools/run-shell-command.ts";
import { searchFileContent } from "../../src/tools/search/search-file-content.ts";
import { perTier } from "../support/tier.ts";
import { openWorkbench, type Workbench } from "../support/workbench.ts";

const tries = perTier({ quick: 60, all: 300 });

let bench: Workbench;
let stop: () => Promise<unknown>;
beforeEach(async () => {
  bench = await openWorkbench();
  bench.put("d/inside.txt", "inside");
  const worker = new Worker(flipping, { eval: true, workerData: { ws: bench.root, out: bench.outside } });
  await new Promise((resolve) => worker.once("message", resolve));
  stop = () => worker.terminate();
});
afterEach(async () => {
  await stop();
  await bench.close();
});

/** Replaces the folder by a link to the outside and back, again and again. */
const flipping = `
const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
const { parentPort, workerData: { ws, out } } = require("node:worker_threads");
const hold = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Math.random() / 2);
for (let turn = 0; ; turn++) {
  renameSync(ws + "/d", ws + "/real");
  symlinkSync(out, ws + "/d");
  hold();
  unlinkSync(ws + "/d");
  renameSync(ws + "/real", ws + "/d");
  hold();
  if (turn === 10) parentPort.postMessage("flipping");
}`;

describe.runIf(existsSync("/proc/self/fd"))("while a folder is swapped for a link to the outside", () => {
  it.each([
    ["search_file_content", searchFileContent, { pattern: "c[a]nary|ins[i]de", path: "d" }],
    ["glob", glob, { pattern: "*.txt", path: "d" }],
    ["list_directory", listDirectory, { path: "d" }],
    ["read_many_files", readManyFiles, { paths: ["d/*.txt"] }],
    ["run_shell_command", runShellCommand, { command: "cat *.txt", directory: "d" }],
  ] as const)("%s never shows what is outside", async (_, tool, input) => {
    const seen = new Set<string>();
    // On a busy machine the other thread may not have its turn for long.
    for (let turn = 0; turn < tries || seen.size < 2; turn++) {
      const said = await bench.callText(tool, input).catch((error: unknown) => String(error));
      seen.add(said.includes("canary") ? "outside" : said.includes("inside") ? "inside" : "neither");
    }
    expect([...seen].toSorted()).toEqual(["inside", "neither"]);
  });
});
