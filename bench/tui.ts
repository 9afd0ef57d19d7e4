/*
 * Measures the terminal UI in a real pseudo-terminal: time to the first frame and to the first accepted key next to
 * Node's own start, memory at rest, and bytes written per streamed token.
 *
 * Other programs can be measured too: npm run bench:tui -- "name=command with words" runs each in the same terminal,
 * alternating with ours. Their first frame counts as complete at the last output before a quiet period; keys are sent
 * from the start, and the first is accepted when its letter appears.
 */
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "@lydell/node-pty";
import { openTrustStore } from "../src/policy/trust/folders.ts";
import { realWorld } from "../src/world/real/world.ts";
import { bin } from "../test/built.ts";

const rounds = 9;

/** Milliseconds without output after which a frame counts as complete. */
const quietTime = 400;

const home = realpathSync(mkdtempSync(join(tmpdir(), "parley-bench-")));
const env = { TERM: "xterm-256color", PATH: process.env["PATH"] ?? "", HOME: home };

/** A program in a terminal, with the time since its start of each piece of output. */
type BenchProcess = {
  readonly pid: number;
  readonly type: (text: string) => void;
  readonly output: () => string;
  /** Returns the milliseconds from the start until the output satisfies a condition. */
  readonly until: (condition: (output: string) => boolean) => Promise<number>;
  readonly ended: Promise<number>;
  readonly stop: () => Promise<void>;
};

const run = (file: string, args: readonly string[], more: Readonly<Record<string, string>> = {}): BenchProcess => {
  const began = performance.now();
  const pty = spawn(file, [...args], { cols: 80, rows: 24, cwd: home, env: { ...env, ...more } });
  let output = "";
  const waiting = new Set<() => void>();
  pty.onData((data) => {
    output += data;
    for (const look of waiting) look();
  });
  const ended = new Promise<number>((resolve) => pty.onExit(() => resolve(performance.now() - began)));
  return {
    pid: pty.pid,
    type: (text) => pty.write(text),
    output: () => output,
    ended,
    until: (condition) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!condition(output)) return;
          waiting.delete(look);
          resolve(performance.now() - began);
        };
        waiting.add(look);
        look();
      }),
    stop: async () => {
      pty.kill("SIGKILL");
      await ended;
    },
  };
};

const median = (times: readonly number[]): number =>
  times.toSorted((one, other) => one - other)[times.length >> 1] ?? 0;

/** Runs the measures in turn, so that all of them run under the same load. */
const sideBySide = async (
  measures: Readonly<Record<string, () => Promise<number>>>,
): Promise<Readonly<Record<string, number>>> => {
  const times: Record<string, number[]> = {};
  for (let round = 0; round < rounds; round++)
    for (const [name, measure] of Object.entries(measures)) (times[name] ??= []).push(await measure());
  return Object.fromEntries(Object.entries(times).map(([name, all]) => [name, median(all)]));
};

const parley = (more: Readonly<Record<string, string>> = {}): BenchProcess => run(process.execPath, [bin], more);

const bareNode = async (): Promise<number> => {
  const running = run(process.execPath, ["-e", "process.stdout.write('x')"]);
  const time = await running.until((output) => output.includes("x"));
  await running.ended;
  return time;
};

const firstFrame = async (): Promise<number> => {
  const running = parley();
  const time = await running.until((output) => output.includes("Ask for something"));
  await running.stop();
  return time;
};

/** A letter that no program prints by itself. */
const letter = "ж";

/** Sends the key before the program is ready and repeats it, since some programs discard early input. */
const firstKey = (command: string) => async (): Promise<number> => {
  // Without raw mode the terminal itself would echo the key at once.
  const running = run("sh", ["-c", `stty -echo; echo .; exec ${command}`]);
  await running.until((output) => output.includes("."));
  const typing = setInterval(() => running.type(letter), 50);
  running.type(letter);
  const time = await inTime(running.until((output) => output.includes(letter)));
  clearInterval(typing);
  await running.stop();
  return time;
};

/** Gives up on output that never comes. */
const inTime = (time: Promise<number>): Promise<number> =>
  Promise.race([time, pause(30_000).then(() => Number.POSITIVE_INFINITY)]);

/** Returns when the last output of a burst came. */
const settledFrame = (command: string) => async (): Promise<number> => {
  const [file = "", ...args] = command.split(" ");
  const running = run(file, args);
  const time = await settled(running);
  await running.stop();
  return time;
};

const settled = async (running: BenchProcess): Promise<number> => {
  let last = 0;
  for (let seen = -1; running.output().length !== seen || seen === 0;) {
    seen = running.output().length;
    await Promise.race([
      running.until((output) => output.length > seen).then((time) => (last = time)),
      pause(quietTime),
    ]);
    if (last > 30_000) break;
  }
  return last;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the megabytes a process and its descendants hold. */
const memoryOf = (pid: number): number => {
  const own = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.reduce((sum, child) => sum + memoryOf(child), own);
};

const atRest = async (command: string): Promise<number> => {
  const [file = "", ...args] = command.split(" ");
  const running = run(file, args);
  await settled(running);
  await pause(2000);
  const memory = memoryOf(running.pid);
  await running.stop();
  return memory;
};

/** Bytes written per byte of a streamed answer, in paragraphs of prose. */
const perByte = async (): Promise<number> => {
  const answer = Array.from(
    { length: 200 },
    (_, at) =>
      `Paragraph ${at} has some words in it, so that it fills more than one line of the screen and is wrapped.`,
  ).join("\n\n");
  const script = join(home, "script.json");
  writeFileSync(script, JSON.stringify({ otherwise: { say: answer } }));
  const running = parley({ PARLEY_OFFLINE_SCRIPT: script });
  await running.until((output) => output.includes("% of "));
  const before = running.output().length;
  running.type("go\r");
  await running.until((output) => output.includes("Paragraph 199 has"));
  await pause(quietTime);
  const written = Buffer.byteLength(running.output().slice(before));
  await running.stop();
  return written / Buffer.byteLength(answer);
};

const ours = `${process.execPath} ${bin}`;
const peers = process.argv.slice(2).map((word) => {
  const at = word.indexOf("=");
  return { name: word.slice(0, at), command: word.slice(at + 1) };
});
const ofPeers = (
  what: string,
  measure: (command: string) => () => Promise<number>,
): Readonly<Record<string, () => Promise<number>>> =>
  Object.fromEntries(peers.map(({ name, command }) => [`${name}, ${what}`, measure(command)]));

const round = (value: number): string => value.toFixed(1);

try {
  await openTrustStore(realWorld().disk, join(home, ".parley")).trustFolder(home);
  const { node = 1, ...others } = await sideBySide({
    node: bareNode,
    "first frame": firstFrame,
    "first key": firstKey(ours),
    ...ofPeers("first frame", settledFrame),
    ...ofPeers("first key", firstKey),
  });
  console.log(`bare Node: ${round(node)} ms (median of ${rounds})`);
  for (const [name, time] of Object.entries(others))
    console.log(`${name}: ${round(time)} ms, ${round(time / node)} times bare Node`);
  if (process.platform === "linux")
    for (const { name, command } of [{ name: "parley", command: ours }, ...peers])
      console.log(`memory at rest, ${name}: ${round(await atRest(command))} MB`);
  console.log(`bytes written per byte of a streamed answer: ${round(await perByte())}`);
} finally {
  rmSync(home, { recursive: true, force: true });
}
