import { fork, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rgPath } from "@vscode/ripgrep";
import { createPermissionGate } from "../src/policy/gate/create.ts";
import { judgeUrl } from "../src/policy/network/judge-url.ts";
import { createRegistry } from "../src/scheduler/registry.ts";
import { createScheduler } from "../src/scheduler/scheduler.ts";
import { glob } from "../src/tools/search/glob.ts";
import { readFile } from "../src/tools/files/read-file.ts";
import { runShellCommand } from "../src/tools/run-shell-command.ts";
import { searchFileContent } from "../src/tools/search/search-file-content.ts";
import { realWorld } from "../src/world/real/world.ts";
import { callId } from "../src/conversation/call-ids.ts";
import { openWorkbench, type Workbench } from "../test/support/workbench.ts";

/*
 * npm run bench:tools
 * Search and glob on 50,000 files, as a ratio to ripgrep alone or to the fastest library, alternating in the same run.
 * Memory growth, each in a separate process. Five commands at once, as a ratio to the slowest.
 */
const rounds = 15;

const words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split(" ");

/** 1,000 folders of 50 files, each of 40 lines. */
const plantTree = (root: string): void => {
  for (let folder = 0; folder < 1000; folder++) {
    const path = join(root, `package${folder % 50}`, `module${Math.floor(folder / 50)}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < 50; file++) {
      const seed = folder * 50 + file;
      const line = words.map((_, index) => words[(seed * 7 + index * index) % words.length]).join(" ");
      const needle = seed % 97 === 0 ? "the needle is here\n" : "";
      const ending = ["ts", "js", "json", "md", "txt"][file % 5];
      writeFileSync(join(path, `file${file}.${ending}`), `${`${line}\n`.repeat(40)}${needle}`);
    }
  }
};

/** Ripgrep alone, in a process group of its own as ours is: a busy system schedules by group. */
const ripgrep = async (cwd: string, ...args: readonly string[]): Promise<void> => {
  const child = spawn(rgPath, ["--no-config", ...args], {
    cwd,
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  child.stdout.resume();
  await once(child, "close");
};

const timed = async (work: () => Promise<unknown>): Promise<number> => {
  const start = performance.now();
  await work();
  return performance.now() - start;
};

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1]!;

const row = (what: string, measured: string, compared: string, result: string, target: string): void =>
  void process.stdout.write(
    `${what.padEnd(34)}${measured.padStart(12)}${compared.padStart(12)}${result.padStart(10)}   ${target}\n`,
  );

/** Ours and theirs alternating, so that both run under the same conditions; the first few rounds warm up. */
const compare = async (
  what: string,
  { ours, theirs, target }: { ours: () => Promise<unknown>; theirs: () => Promise<unknown>; target: number },
): Promise<void> => {
  const mine: number[] = [];
  const others: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const [other, own] = [await timed(theirs), await timed(ours)];
    if (round < 3) continue;
    mine.push(own);
    others.push(other);
  }
  const ratio = median(mine) / median(others);
  row(what, `${median(mine).toFixed(0)} ms`, `${median(others).toFixed(0)} ms`, ratio.toFixed(2), `<= ${target}`);
};

const benchTree = async (bench: Workbench): Promise<void> => {
  plantTree(bench.root);
  await compare("search, 515 lines of 2 million", {
    ours: () => bench.call(searchFileContent, { pattern: "needle is" }),
    theirs: () => ripgrep(bench.root, "--hidden", "--line-number", "--ignore-case", "needle is", "./"),
    target: 1.15,
  });
  await compare("search in *.ts, 20,000 lines", {
    ours: () => bench.call(searchFileContent, { pattern: "alpha", include: "*.ts" }),
    theirs: () => ripgrep(bench.root, "--hidden", "--line-number", "--ignore-case", "--glob=*.ts", "alpha", "./"),
    target: 1.15,
  });
  await compare("glob, 10,000 of 50,000 by age", {
    ours: () => bench.call(glob, { pattern: "**/*.ts" }),
    theirs: () => ripgrep(bench.root, "--hidden", "--files", "--glob=*.ts"),
    target: 1.5,
  });
  const library = await fastestLibrary();
  await compare("the same, to tinyglobby without age", {
    ours: () => bench.call(glob, { pattern: "**/*.ts" }),
    theirs: () => library.glob("**/*.ts", { cwd: bench.root, dot: true }),
    target: 1.5,
  });
  await compare("glob, 1,000 of 50,000 by age", {
    ours: () => bench.call(glob, { pattern: "**/file0.ts" }),
    theirs: () => ripgrep(bench.root, "--hidden", "--files", "--glob=file0.ts"),
    target: 1.5,
  });
};

type Library = { readonly glob: (pattern: string, options: object) => Promise<readonly string[]> };

/** Installed with vitest, and not a dependency of ours. */
const fastestLibrary = async (): Promise<Library> => {
  const name = "tinyglobby";
  return (await import(name)) as Library;
};

const benchBatch = async (bench: Workbench): Promise<void> => {
  const { clock } = realWorld();
  const gate = createPermissionGate({
    mode: "yolo",
    rules: {},
    trusted: true,
    interactive: true,
    protection: () => ({ level: "free", reason: "" }),
    judgeCommand: async () => ({
      decision: "allow",
      reason: "",
      analysis: { programs: [], suggestedRules: [], writes: [], readsOutside: false, mayRunUnseen: false },
    }),
    judgeUrl: (url) => judgeUrl(url),
  });
  const scheduler = createScheduler({
    tools: createRegistry([runShellCommand]),
    gate,
    capabilities: (grant) => bench.capabilities(grant),
    clock,
    limits: { processes: 8, toolTime: 60_000 },
  });
  const ratios: number[] = [];
  const phases: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const batch = Array.from({ length: 5 }, (_, index) => ({
      type: "call" as const,
      id: callId(round * 5 + index + 1),
      tool: "run_shell_command",
      input: { type: "parsed" as const, value: { command: "sleep 0.2" } },
    }));
    let slowest = 0;
    const phase = await timed(async () => {
      for (const { duration } of await scheduler.schedule(batch)) slowest = Math.max(slowest, duration);
    });
    phases.push(phase);
    ratios.push(phase / slowest);
  }
  row(
    "five times sleep 0.2 in a batch",
    `${median(phases).toFixed(0)} ms`,
    "200 ms",
    median(ratios).toFixed(2),
    "<= 1.15",
  );
};

/** How much a piece of work adds to the peak memory of this process. */
const grown = async (work: () => Promise<unknown>): Promise<Grown> => {
  const before = process.resourceUsage().maxRSS;
  const ms = await timed(work);
  return { ms, megabytes: (process.resourceUsage().maxRSS - before) / 1024 };
};

type Grown = { readonly ms: number; readonly megabytes: number };

const works: { readonly [name: string]: (bench: Workbench) => Promise<Grown> } = {
  tail: async (bench) => {
    const path = join(bench.root, "large.txt");
    const handle = openSync(path, "w");
    const block = Buffer.from(
      `${"A line of a long log, like many others. ".repeat(3).slice(0, 127)}\n`.repeat(2 ** 17),
    );
    for (let at = 0; at < 2 ** 31; at += block.length) writeSync(handle, block);
    closeSync(handle);
    bench.put("small.txt", "x\n");
    await bench.call(readFile, { absolute_path: "small.txt", offset: -200 });
    const result = await grown(() => bench.call(readFile, { absolute_path: path, offset: -200 }));
    rmSync(path);
    return result;
  },
  flood: async (bench) => {
    await bench.call(runShellCommand, { command: "echo warm; seq 100000" });
    return grown(() => bench.call(runShellCommand, { command: "yes | head -c 1G" }));
  },
};

const inProcessOfItsOwn = async (name: string): Promise<Grown> => {
  const child = fork(fileURLToPath(import.meta.url), [name], { stdio: "inherit" });
  const [result] = (await once(child, "message")) as [Grown];
  return result;
};

const main = async (): Promise<void> => {
  row("what", "ours", "compared", "result", "target");
  const bench = await openWorkbench();
  try {
    await benchTree(bench);
    await benchBatch(bench);
  } finally {
    await bench.close();
  }
  const tail = await inProcessOfItsOwn("tail");
  row("last 200 lines of 2 GB", `${tail.ms.toFixed(0)} ms`, "", `${tail.megabytes.toFixed(0)} MB`, "< 64 MB");
  const flood = await inProcessOfItsOwn("flood");
  row("1 GB of shell output", `${flood.ms.toFixed(0)} ms`, "", `${flood.megabytes.toFixed(0)} MB`, "< 32 MB");
};

const [asked] = process.argv.slice(2);
const work = asked === undefined ? undefined : works[asked];
if (work === undefined) await main();
else {
  const bench = await openWorkbench();
  const result = await work(bench);
  await bench.close();
  process.send?.(result, () => process.disconnect());
}
