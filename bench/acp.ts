/*
 * npm run bench:acp
 * The packaged program as an editor uses it: from its start to the answer to "initialize" and to "session/new", from a
 * prompt to the first text, and the cost of each further piece of an answer. Bare Node is the floor of the start.
 * Medians, and minima, which a busy machine disturbs least. Processor time counts the whole process tree (Linux).
 *
 * Other agents are measured in the same run, in turns, if ACP_PEERS names their commands:
 *   ACP_PEERS='gemini=gemini --acp;opencode=opencode acp' npm run bench:acp
 * They get an empty home folder and the same model on a loopback port. ROUNDS sets the number of rounds.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openPieceServer } from "./acp-server.ts";

const rounds = Number(process.env["ROUNDS"] ?? 9);
/** The pieces of the long answer. */
const pieces = 1000;
const base = await mkdtemp(join(tmpdir(), "parley-bench-acp-"));
const project = join(base, "project");
/** A copy, so that a build meanwhile changes nothing. */
const bin = join(base, "dist", "parley.cjs");
await mkdir(project);
await cp(fileURLToPath(new URL("../dist", import.meta.url)), join(base, "dist"), { recursive: true });
const model = await openPieceServer();

/** An agent to measure. */
type BenchAgent = {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Only `initialize` is measured. */
  readonly isFloor?: boolean;
};

/** The figures of one run: milliseconds, and microseconds per piece. */
type Figures = { readonly [figure in keyof typeof figureNames]?: number };

const figureNames = {
  initialize: "start to initialize answered, ms",
  initializeCpu: "processor time until then, ms",
  session: "start to session/new answered, ms",
  firstText: "first prompt to first text, ms",
  secondText: "second prompt to first text, ms",
  piece: "per further piece of an answer, µs",
  pieceCpu: "processor time per piece, µs",
} as const;

type Message = {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly update?: { readonly sessionUpdate?: string } };
  readonly result?: { readonly sessionId?: string };
  readonly error?: { readonly message: string };
};

/** The configuration of agents that need one to use the loopback model. */
const peerSetups: Readonly<Record<string, (home: string) => NodeJS.ProcessEnv>> = {
  gemini: (home) => {
    writeJson(join(home, ".gemini/settings.json"), {
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
    });
    return { GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: "true" };
  },
  opencode: (home) => {
    writeJson(join(home, ".config/opencode/opencode.json"), {
      autoupdate: false,
      share: "disabled",
      model: "bench/m",
      provider: {
        bench: {
          npm: "@ai-sdk/openai-compatible",
          name: "bench",
          options: { baseURL: `${model.url}/v1`, apiKey: "none" },
          models: { m: { name: "m", tool_call: true, limit: { context: 200_000, output: 8192 } } },
        },
      },
    });
    const parts = ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE"];
    return Object.fromEntries(parts.map((part) => [`OPENCODE_DISABLE_${part}`, "1"]));
  },
};

function writeJson(path: string, value: object): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify(value));
}

const peers = (process.env["ACP_PEERS"] ?? "").split(";").flatMap((each): readonly BenchAgent[] => {
  const [name = "", ...words] = each.split("=");
  if (words.length === 0) return [];
  const home = join(base, name);
  mkdirSync(home);
  return [{ name, command: words.join("=").split(" "), env: { HOME: home, ...peerSetups[name]?.(home) } }];
});

/** The smallest program that answers: what Node itself takes. */
const floorScript =
  'process.stdin.once("data",()=>console.log(JSON.stringify({jsonrpc:"2.0",id:0,result:{}})));process.stdin.on("end",()=>0)';

const agents: readonly BenchAgent[] = [
  { name: "node", command: [process.execPath, "-e", floorScript], env: {}, isFloor: true },
  {
    name: "parley",
    command: [process.execPath, bin, "acp", "--model", "openai-chat/gpt-4.1"],
    env: { HOME: base, PARLEY_HOME: join(base, "home"), OPENAI_API_KEY: "none", OPENAI_BASE_URL: `${model.url}/v1` },
  },
  ...peers,
];

/** Measures one run of an agent. */
const measure = async ({ command: [program = "", ...args], env, isFloor = false }: BenchAgent): Promise<Figures> => {
  const began = performance.now();
  const child = spawn(program, args, {
    cwd: project,
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = once(child, "close");
  try {
    const ask = openDialog(child);
    await ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const initialize = performance.now() - began;
    const initializeCpu = cpuOf(child.pid ?? 0);
    if (isFloor) return { initialize, initializeCpu };
    const { result } = await ask("session/new", { cwd: project, mcpServers: [] });
    const session = performance.now() - began;
    const prompt = (count: number) => {
      model.setPieces(count);
      return ask("session/prompt", { sessionId: result?.sessionId, prompt: [{ type: "text", text: "Speak." }] });
    };
    const first = await prompt(1);
    const second = await prompt(1);
    const cpuBefore = cpuOf(child.pid ?? 0);
    const long = await prompt(pieces + 1);
    return {
      initialize,
      initializeCpu,
      session,
      firstText: first.firstText,
      secondText: second.firstText,
      piece: (1000 * (long.total - second.total)) / pieces,
      pieceCpu: (1000 * (cpuOf(child.pid ?? 0) - cpuBefore)) / pieces,
    };
  } finally {
    child.stdin.end();
    // Some agents do not end with their input.
    const killed = setTimeout(() => child.kill("SIGKILL"), 3000);
    await ended;
    clearTimeout(killed);
  }
};

/** An answer, with the milliseconds from the request to it and to the first text before it. */
type Answer = Message & { readonly total: number; readonly firstText: number };

/** Sends requests to an agent, one after the other. */
function openDialog(child: ChildProcess): (method: string, params: object) => Promise<Answer> {
  if (child.stdin === null || child.stdout === null) throw new Error("No pipes.");
  const { stdin } = child;
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let id = -1;
  return async (method, params) => {
    id += 1;
    const began = performance.now();
    let firstText = Number.NaN;
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${child.spawnargs.join(" ")} ended.`);
      const message = readMessage(String(value));
      if (Number.isNaN(firstText) && message.params?.update?.sessionUpdate === "agent_message_chunk")
        firstText = performance.now() - began;
      if (message.method !== undefined || message.id !== id) continue;
      if (message.error !== undefined) throw new Error(`${child.spawnargs.join(" ")}: ${message.error.message}`);
      return { ...message, total: performance.now() - began, firstText };
    }
  };
}

/** Some agents print other lines, too. */
function readMessage(line: string): Message {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return {};
  }
}

/** The processor time of a process and its descendants, in milliseconds; NaN where there is no /proc. */
function cpuOf(root: number): number {
  const stats = listProcesses();
  if (stats.length === 0) return Number.NaN;
  const sum = (pid: number): number =>
    stats.reduce(
      (all, each) => (each.parent === pid ? all + sum(each.pid) : all),
      stats.find((each) => each.pid === pid)?.cpu ?? 0,
    );
  return sum(root);
}

function listProcesses(): readonly { readonly pid: number; readonly parent: number; readonly cpu: number }[] {
  try {
    return readdirSync("/proc").flatMap((name) => {
      if (!/^\d+$/.test(name)) return [];
      try {
        const fields = readFileSync(`/proc/${name}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        // User and system time, also of children that ended, in hundredths of a second.
        const ticks = fields.slice(11, 15).reduce((all, each) => all + Number(each), 0);
        return [{ pid: Number(name), parent: Number(fields[1]), cpu: 10 * ticks }];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}

const results = new Map(agents.map(({ name }) => [name, [] as Figures[]]));
// The first two rounds fill caches.
for (let round = -2; round < rounds; round += 1)
  for (const agent of agents) {
    const figures = await measure(agent);
    if (round >= 0) results.get(agent.name)?.push(figures);
  }

const sortedFigures = (name: string, figure: keyof typeof figureNames): readonly number[] =>
  (results.get(name) ?? []).flatMap((each) => each[figure] ?? []).toSorted((one, other) => one - other);

const median = (values: readonly number[]): number => values[Math.floor(values.length / 2)] ?? Number.NaN;

const format = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(value < 100 ? 1 : 0));

const describe = (name: string, figure: keyof typeof figureNames): string => {
  const values = sortedFigures(name, figure);
  if (values.length === 0) return "-";
  const own = median(sortedFigures("parley", figure));
  const ratio = name === "parley" ? "" : `, ${(median(values) / own).toFixed(2)}x`;
  return `${format(median(values))} (${format(values[0] ?? Number.NaN)}${ratio})`;
};

const rows = [
  [
    `median (minimum, ratio to parley), ${rounds} rounds, load ${(loadavg()[0] ?? 0).toFixed(1)}`,
    ...agents.map(({ name }) => name),
  ],
  ...(Object.keys(figureNames) as (keyof typeof figureNames)[]).map((figure) => [
    figureNames[figure],
    ...agents.map(({ name }) => describe(name, figure)),
  ]),
];
const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
for (const row of rows)
  process.stdout.write(
    `${row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd()}\n`,
  );
model.close();
await rm(base, { recursive: true, force: true });
