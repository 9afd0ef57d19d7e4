/*
 * npm run bench:agent
 * With another Node, after node scripts/nodes.mjs: .cache/nodes/node_modules/node-22/bin/node node_modules/.bin/tsx bench/agent.ts
 * Measures the program: start, memory, time per step. Each figure is a ratio to a
 * program of bare Node that sends the same requests and starts the same programs
 * (agent-floor.mjs), alternating in the same run, with the absolute value. Medians.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openScriptedServer, type Exchange, type Reply } from "./agent-server.ts";

const rounds = Number(process.env["ROUNDS"] ?? 11);
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const floor = fileURLToPath(new URL("agent-floor.mjs", import.meta.url));
const home = await mkdtemp(join(tmpdir(), "parley-bench-"));
const project = join(home, "project");
const skillful = join(home, "skillful");
/** A copy, so that a build during the run changes nothing. */
const bin = join(home, "dist", "parley.cjs");
const server = await openScriptedServer();
/** About the size of our own request prefix. */
let prefixSize = "12000";

const env = {
  PATH: process.env["PATH"],
  HOME: home,
  PARLEY_HOME: join(home, ".parley"),
  OPENAI_API_KEY: "sk-none",
  OPENAI_BASE_URL: server.url,
};
type StartOptions = { readonly stdin?: "ignore" | "pipe"; readonly cwd?: string };
const start = (args: readonly string[], { stdin = "ignore", cwd = project }: StartOptions = {}): ChildProcess =>
  spawn(process.execPath, args, { cwd, env, stdio: [stdin, "ignore", "inherit"] });
const waitForEnd = async (child: ChildProcess): Promise<void> => {
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`It ended with ${code}.`);
};

const options = ["--model", "openai-chat/gpt-4.1", "--approval-mode", "yolo"];
const runParley = (): ChildProcess => start([bin, "-p", "Do it.", ...options]);
/** The same in a project with 100 skills. */
const runWithSkills = (): ChildProcess => start([bin, "-p", "Do it.", ...options], { cwd: skillful });
const runFloor = (...log: readonly string[]): ChildProcess =>
  start([floor, `${server.url}/chat/completions`, "Do it.", prefixSize, ...log]);
/** The same, with every step on disk before the next request. */
const runDurableFloor = (): ChildProcess => runFloor(join(home, "floor.jsonl"));

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

/** Runs both alternately, so that load on the machine affects both. */
const alternate = async (
  measure: (program: () => ChildProcess) => Promise<number>,
  { own = runParley, other = (): ChildProcess => runFloor(), times = rounds } = {},
): Promise<readonly [number, number]> => {
  const [mine, others]: [number[], number[]] = [[], []];
  for (let round = 0; round <= times; round++) {
    const [second, first] = [await measure(other), await measure(own)];
    // The first round warms the disk cache.
    if (round > 0) others.push(second);
    if (round > 0) mine.push(first);
  }
  return [median(mine), median(others)];
};

const row = (what: string, [mine, other]: readonly [number, number], unit: string, target: string): void => {
  const format = (value: number): string => `${value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)} ${unit}`;
  const cells = [format(mine).padStart(11), format(other).padStart(11), (mine / other).toFixed(2).padStart(7)];
  process.stdout.write(`${what.padEnd(46)}${cells.join(" ")}   ${target}\n`);
};

const load = (): string =>
  loadavg()
    .map((each) => each.toFixed(1))
    .join(" ");

/** The milliseconds until an answer, which no figure includes. A quick model takes several times as long. */
const answerDelayMs = 100;

/** Runs one turn with these answers and measures its exchanges. */
const measureTurn =
  (
    replies: (index: number) => Reply,
    measured: (exchanges: readonly Exchange[]) => number,
    delayMs: number = answerDelayMs,
  ) =>
  async (program: () => ChildProcess): Promise<number> => {
    const exchanges = server.play(replies, delayMs);
    await waitForEnd(program());
    return measured(exchanges);
  };

/** The time from the end of one answer to the next request. */
const gap = (exchanges: readonly Exchange[], at: number): number =>
  (exchanges[at + 1]?.received ?? Number.NaN) - (exchanges[at]?.answered ?? Number.NaN);

const done: Reply = { say: "Done." };

const firstRequest = async (program: () => ChildProcess): Promise<number> => {
  const exchanges = server.play(() => done);
  const began = performance.now();
  await waitForEnd(program());
  return (exchanges[0]?.received ?? Number.NaN) - began;
};

/**
 * The peak of the program's own share of memory (PSS), in MB, sampled every few milliseconds. Pages shared with other
 * Node programs are counted in part, for both alike.
 */
const peakMemory = async (program: () => ChildProcess): Promise<number> => {
  server.play(() => done, 150);
  const child = program();
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, shareOf(child.pid))), 3);
  await waitForEnd(child);
  clearInterval(sampling);
  return most;
};

const shareOf = (pid: number | undefined): number => {
  try {
    const [, kilobytes = "0"] = /^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8")) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return 0;
  }
};

/** The time from the last byte of the answer to the end of the process. */
const exitLag = async (program: () => ChildProcess): Promise<number> => {
  const exchanges = server.play(() => done, answerDelayMs);
  await waitForEnd(program());
  return performance.now() - (exchanges[0]?.answered ?? Number.NaN);
};

const wholeRun = async (program: () => ChildProcess): Promise<number> => {
  const began = performance.now();
  await waitForEnd(program());
  return performance.now() - began;
};

/** 100 turns in one session, each reading 10 kB: the last turns and those around the tenth, by the time between answers and requests. */
const longSession = async (program: () => ChildProcess, line: (turn: number) => string): Promise<readonly number[]> => {
  const exchanges = server.play((index) => (index % 2 === 0 ? read(index % 100) : done));
  const child = program();
  child.stdin?.end(`${Array.from({ length: 100 }, (_, index) => line(index)).join("\n")}\n`);
  await waitForEnd(child);
  if (exchanges.length !== 200 || (exchanges[199]?.body().length ?? 0) < 1_000_000)
    throw new Error(
      `The session took ${exchanges.length} requests, the last of ${exchanges.at(-1)?.body().length} bytes.`,
    );
  const ofTurn = (turn: number): number => gap(exchanges, 2 * turn - 1) + gap(exchanges, 2 * turn);
  const around = (turns: readonly number[]): number => median(turns.map(ofTurn));
  return [around([95, 96, 97, 98, 99]), around([7, 8, 9, 10, 11])];
};

/** The extra time of the last turns over the same in bare Node, compared with turns around the tenth. */
const growth = async (): Promise<readonly [number, number]> => {
  const [mine, other]: [(readonly number[])[], (readonly number[])[]] = [[], []];
  for (let round = 0; round < Math.min(rounds, 5); round++) {
    const bare = (): ChildProcess =>
      start([floor, `${server.url}/chat/completions`, "-", prefixSize], { stdin: "pipe" });
    other.push(await longSession(bare, (turn) => `Turn ${turn}.`));
    const whole = (): ChildProcess => start([bin, "--input-format", "stream-json", ...options], { stdin: "pipe" });
    mine.push(await longSession(whole, (turn) => JSON.stringify({ type: "user", text: `Turn ${turn}.` })));
  }
  const own = (at: number): number => medianAt(mine, at) - medianAt(other, at);
  return [own(0), own(1)];
};

const medianAt = (rows: readonly (readonly number[])[], at: number): number =>
  median(rows.map((row) => row[at] ?? Number.NaN));

const read = (file: number): Reply => ({ call: [["read_file", { absolute_path: join(project, `file${file}.txt`) }]] });
const reads: Reply = {
  call: Array.from(
    { length: 5 },
    (_, file) => ["read_file", { absolute_path: join(project, `file${file}.txt`) }] as const,
  ),
};
const writeSkill = async (number: number): Promise<void> => {
  const folder = join(skillful, ".parley", "skills", `skill-${number}`);
  await mkdir(folder, { recursive: true });
  const head = `name: skill-${number}\ndescription: Does work of kind ${number}. Use it when the user asks for that.`;
  await writeFile(join(folder, "SKILL.md"), `---\n${head}\n---\n\n${"One more step of the work.\n".repeat(80)}`);
};
const sleeps: Reply = {
  call: Array.from({ length: 5 }, () => ["run_shell_command", { command: "sleep 0.2" }] as const),
};

try {
  await cp(dist, join(home, "dist"), { recursive: true, filter: (path) => path !== join(dist, "lib") });
  await writeFile(join(home, "package.json"), JSON.stringify({ type: "module" }));
  await mkdir(project, { recursive: true });
  const line = "All work and no play makes a dull file.\n";
  for (let file = 0; file < 100; file++) await writeFile(join(project, `file${file}.txt`), line.repeat(256));
  await mkdir(env.PARLEY_HOME);
  await writeFile(join(env.PARLEY_HOME, "settings.json"), JSON.stringify({ compaction: "off" }));
  await cp(project, skillful, { recursive: true });
  for (let number = 0; number < 100; number++) await writeSkill(number);
  for (const cwd of [project, skillful]) await waitForEnd(start([bin, "trust"], { cwd }));

  const first = server.play(() => done);
  await waitForEnd(runParley());
  const { messages, tools } = JSON.parse(first[0]?.body() ?? "{}") as { messages: unknown[]; tools: unknown[] };
  const [system, declarations] = [messages[0], tools].map((each) => Buffer.byteLength(JSON.stringify(each)));
  prefixSize = String((system ?? 0) + (declarations ?? 0));

  process.stdout.write(`${process.version}, ${rounds} rounds, load ${load()}\n\n`);
  process.stdout.write(`${"".padEnd(46)}${"parley".padStart(11)} ${"bare Node".padStart(11)}   ratio\n`);
  row("process start to first request", await alternate(firstRequest), "ms", "<= 2.0");
  const skills = { own: runWithSkills, other: runParley };
  row("  with 100 skills, against none", await alternate(firstRequest, skills), "ms", "<= 10 ms more");
  row("peak memory of one turn (PSS)", await alternate(peakMemory), "MB", "<= 2.5");
  const version = { own: () => start([bin, "--version"]), other: () => start(["-e", "0"]) };
  row("--version, against node -e 0", await alternate(wholeRun, version), "ms", "<= 1.3");
  row("last byte of the answer to the end", await alternate(exitLag), "ms", "<= 20 ms");
  const batch = (calls: Reply, delayMs?: number): ReturnType<typeof measureTurn> =>
    measureTurn(
      (index) => (index === 0 ? calls : done),
      (exchanges) => gap(exchanges, 0),
      delayMs,
    );
  row("five reads in the first answer, given at once", await alternate(batch(reads, 0)), "ms", "<= 20 ms");
  row("five sleep 0.2 in one batch", await alternate(batch(sleeps)), "ms", "<= 240 ms");
  const readSteps = (
    measured: (gaps: readonly number[]) => number,
    { count = 20 } = {},
  ): ReturnType<typeof measureTurn> =>
    measureTurn(
      (index) => (index < count ? read(index) : done),
      (exchanges) => measured(Array.from({ length: count }, (_, at) => gap(exchanges, at))),
    );
  const mean = (gaps: readonly number[]): number => gaps.reduce((all, each) => all + each, 0) / gaps.length;
  row(
    "overhead of a step, over 20 one-read steps",
    await alternate(readSteps(mean), { other: runDurableFloor }),
    "ms",
    "<= 1.5",
  );
  row("  of a step in the middle (median)", await alternate(readSteps(median), { other: runDurableFloor }), "ms", "");
  const late = readSteps((gaps) => median(gaps.slice(20)), { count: 60 });
  const lateRounds = { other: runDurableFloor, times: Math.min(rounds, 5) };
  row("  of a step after the first 20 of 60 (median)", await alternate(late, lateRounds), "ms", "");
  row("turn 100 of 1 MB, against turn 10: own part", await growth(), "ms", "<= 1.5");
  process.stdout.write(`\nfirst request: ${system} bytes of system prompt, ${declarations} of declarations, `);
  process.stdout.write(`${prefixSize} together (<= 14000)\nload at the end ${load()}\n`);
} finally {
  server.close();
  await rm(home, { recursive: true, force: true });
}
