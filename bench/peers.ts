/*
 * npm run bench:peers -- --clients DIR [--node DIR] [--only pi,codex] [--rounds N] [--steps N]
 * Compares the program with other command-line agents on the same work: each answers prompts headless, with the strict
 * simulator of the API it speaks as its model, all in turn in every round. DIR holds NAME/node_modules/.bin/NAME for each
 * agent, such as `npm install --prefix DIR/pi PACKAGE` makes it; without it they are found on the PATH. --node is the
 * folder of a newer Node for agents that need one. Prints medians as a table, and the requests a simulator refused.
 */
import { spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findProgram, testClients, type ClientCommand, type ClientPlace } from "../scripts/gateway/clients.ts";
import { promptFor, replyTo } from "../scripts/gateway/model.ts";
import { serve } from "../src/sim/serve.ts";
import { createSimulator, type Simulator } from "../src/sim/simulator.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string" },
    node: { type: "string" },
    only: { type: "string" },
    rounds: { type: "string", default: "5" },
    steps: { type: "string", default: "20" },
  },
});
const steps = Number(options.steps);

/** The simulator and the model each agent works with. */
const setups: Readonly<Record<string, readonly [provider: string, model: string]>> = {
  claude: ["anthropic", "claude-sonnet-4-5"],
  codex: ["openai", "gpt-5"],
  gemini: ["google", "gemini-2.5-flash"],
  opencode: ["openai-chat", "gpt-4.1"],
  pi: ["anthropic", "claude-sonnet-4-5"],
  qwen: ["openai-chat", "gpt-4.1"],
  parley: ["openai-chat", "gpt-4.1"],
};

type Agent = {
  readonly name: string;
  readonly program: readonly string[];
  readonly provider: string;
  readonly command: ClientCommand;
  readonly home: string;
};

/** When a request arrived, its size, and when its answer was complete. */
type RequestTimes = { readonly received: number; readonly bytes: number; answered: number };

type Figures = { version: number[]; first: number[]; whole: number[]; memory: number[]; step: number[]; bytes: number };

const root = mkdtempSync(join(tmpdir(), "parley-peers-"));
const project = join(root, "project");
mkdirSync(project);
for (let n = 1; n <= 20; n++) writeFileSync(join(project, `file${n}.txt`), `content of file ${n}\n`.repeat(20));

let times: RequestTimes[] = [];
const refused = new Map<string, number>();
/** Runs that failed or took too long, by agent. */
const failed = new Map<string, number>();

/** Notes when requests arrive and when their answers end. */
const createTimedSimulator = (provider: string): Simulator => {
  const simulator = createSimulator({
    provider,
    script: (request) => replyTo(request, project),
    onRequest: (entry) => {
      if (entry.verdict === "accepted") return;
      const line = `${provider}: ${entry.method} ${entry.path}: ${entry.status} ${entry.message.slice(0, 150)}`;
      refused.set(line, (refused.get(line) ?? 0) + 1);
    },
  });
  return {
    ...simulator,
    handle: async (request, signal, prefix) => {
      const bytes = request.body?.length ?? 0;
      const entry = { received: performance.now(), bytes, answered: Number.NaN };
      times.push(entry);
      const response = await simulator.handle(request, signal, prefix);
      return { ...response, body: noteEnd(response.body, () => (entry.answered = performance.now())) };
    },
  };
};

async function* noteEnd(body: AsyncIterable<Uint8Array>, end: () => void): AsyncGenerator<Uint8Array> {
  yield* body;
  end();
}

const server = await serve(
  Object.fromEntries(
    [...new Set(Object.values(setups).map(([id]) => id))].map((id) => [`/${id}`, createTimedSimulator(id)]),
  ),
);

const prepareParley = ({ home, url, token, model }: ClientPlace): ClientCommand => {
  mkdirSync(join(home, ".parley"), { recursive: true });
  const flags = ["--model", `openai-chat/${model}`, "--approval-mode", "yolo"];
  return {
    env: { OPENAI_API_KEY: token, OPENAI_BASE_URL: `${url}/v1` },
    start: (prompt) => ["-p", prompt, ...flags],
    resume: (prompt) => ["-c", "-p", prompt, ...flags],
  };
};

const createAgents = (): readonly Agent[] => {
  // A copy, so that a build during the run changes nothing.
  const copy = join(root, "program", "dist");
  const dist = fileURLToPath(new URL("../dist", import.meta.url));
  cpSync(dist, copy, { recursive: true, filter: (path) => path !== join(dist, "lib") });
  const all = [
    { name: "Parley", bin: "parley", program: [process.execPath, join(copy, "parley.cjs")], prepare: prepareParley },
    ...testClients.map(({ name, bin, prepare }) => {
      const program = findProgram(bin, options.clients);
      return { name, bin, program: program === undefined ? undefined : [program], prepare };
    }),
  ];
  return all.flatMap(({ name, bin, program, prepare }) => {
    if (options.only !== undefined && !["parley", ...options.only.split(",")].includes(bin)) return [];
    if (program === undefined) {
      process.stderr.write(`${name} is not installed.\n`);
      return [];
    }
    const [provider, model] = setups[bin] ?? ["openai-chat", "gpt-4.1"];
    const home = join(root, "homes", bin);
    mkdirSync(home, { recursive: true });
    const command = prepare({ home, url: `${server.url}/${provider}`, token: "sk-ant-api03-none", model });
    return [{ name, program, provider, command, home }];
  });
};

type Run = { readonly code: number | null; readonly began: number; readonly ended: number; readonly memory: number };

const run = async ({ name, program, command, home }: Agent, args: readonly string[], sample: boolean): Promise<Run> => {
  const path = [options.node, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"]
    .filter(Boolean)
    .join(":");
  const [file = "", ...before] = program;
  const began = performance.now();
  const child = spawn(file, [...before, ...args], {
    cwd: project,
    env: { PATH: path, HOME: home, TERM: "dumb", ...command.env },
    stdio: ["ignore", "ignore", "ignore"],
    detached: true,
  });
  let memory = 0;
  const sampling = sample ? setInterval(() => (memory = Math.max(memory, memoryOf(child.pid ?? 0))), 20) : undefined;
  const limit = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 60_000);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const ended = performance.now();
  clearTimeout(limit);
  clearInterval(sampling);
  if (code !== 0) failed.set(name, (failed.get(name) ?? 0) + 1);
  return { code, began, ended, memory };
};

/** The share of memory (PSS) of a process group, in MB. Pages that several processes share are counted in part. */
const memoryOf = (group: number): number => {
  let kilobytes = 0;
  for (const pid of readdirSync("/proc")) {
    if (!/^\d+$/.test(pid)) continue;
    try {
      const [, , processGroup] = readFileSync(`/proc/${pid}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      if (Number(processGroup) !== group) continue;
      kilobytes += Number(/^Pss: +(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It has ended.
    }
  }
  return kilobytes / 1024;
};

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[values.length >> 1] ?? Number.NaN;

const measure = async (agent: Agent, figures: Figures): Promise<void> => {
  const version = await run(agent, ["--version"], false);
  if (version.code === 0) figures.version.push(version.ended - version.began);

  times = [];
  const once = await run(agent, agent.command.start("Say hello."), false);
  if (once.code === 0 && times.length > 0) {
    figures.first.push((times[0]?.received ?? Number.NaN) - once.began);
    figures.whole.push(once.ended - once.began);
    figures.bytes = Math.max(...times.map(({ bytes }) => bytes));
  }

  times = [];
  const sampled = await run(agent, agent.command.start("Say hello."), true);
  if (sampled.code === 0) figures.memory.push(sampled.memory);

  times = [];
  const long = await run(agent, agent.command.start(promptFor(`steps${steps}`)), false);
  const gaps = times.slice(1).map(({ received }, at) => received - (times[at]?.answered ?? Number.NaN));
  if (long.code === 0 && times.length > steps) figures.step.push(median(gaps.filter((gap) => gap >= 0)));
};

const cell = (values: readonly number[], unit: string): string => {
  const value = median(values);
  return Number.isNaN(value) ? "-" : `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
};

try {
  const rounds = Number(options.rounds);
  const rows = createAgents().map((agent) => ({
    agent,
    figures: { version: [], first: [], whole: [], memory: [], step: [], bytes: 0 } as Figures,
  }));
  for (let round = 0; round <= rounds; round++) {
    for (const row of rows) {
      // The first round fills the disk cache and makes settings and code caches.
      const kept = round === 0 ? structuredClone(row.figures) : row.figures;
      await measure(row.agent, kept);
    }
    process.stderr.write(`round ${round} of ${rounds}, load ${loadavg()[0]?.toFixed(1)}\n`);
  }
  const head = ["agent", "--version", "first request", "whole prompt", "memory (PSS)", "one step", "first body"];
  const lines = rows.map(({ agent, figures: { version, first, whole, memory, step, bytes } }) => [
    agent.name,
    cell(version, "ms"),
    cell(first, "ms"),
    cell(whole, "ms"),
    cell(memory, "MB"),
    cell(step, "ms"),
    `${(bytes / 1000).toFixed(0)} kB`,
  ]);
  for (const line of [head, head.map(() => "---"), ...lines]) process.stdout.write(`| ${line.join(" | ")} |\n`);
  for (const [name, count] of failed) process.stdout.write(`failed ${count} x ${name}\n`);
  for (const [line, count] of refused) process.stdout.write(`refused ${count} x ${line}\n`);
} finally {
  await server.close();
  rmSync(root, { recursive: true, force: true });
}
