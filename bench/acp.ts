/*
 * npm run bench:acp
 * The packaged program as an editor uses it: from its start to the answer to "initialize" and to "session/new", from a
 * prompt to the first update; and the work per update. Medians, and minima, which a busy machine
 * disturbs least. Other agents are measured in the same run if ACP_PEERS names their commands:
 * ACP_PEERS='gemini=gemini --experimental-acp;opencode=opencode acp'.
 */
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { Connection } from "../src/acp/connection.ts";
import { foldEvent, initialState } from "../src/acp/updates.ts";
import { openScriptedServer } from "./agent-server.ts";

const rounds = Number(process.env["ROUNDS"] ?? 15);
const base = await mkdtemp(join(tmpdir(), "parley-bench-acp-"));
const project = join(base, "project");
/** A copy, so that a build meanwhile changes nothing. */
const bin = join(base, "dist", "parley.cjs");
await mkdir(project);
await cp(fileURLToPath(new URL("../dist", import.meta.url)), join(base, "dist"), { recursive: true });
const model = await openScriptedServer();

type Message = { readonly id?: number; readonly method?: string; readonly result?: { readonly sessionId?: string } };

/** The times of one run, in milliseconds. Those that need a model are measured with our own agent only. */
type Times = { initialize: number; session?: number; firstUpdate?: number };

const measure = async (command: readonly string[], isOwn: boolean): Promise<Times> => {
  const began = performance.now();
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: project,
    env: {
      PATH: process.env["PATH"],
      HOME: base,
      PARLEY_HOME: join(base, "home"),
      OPENAI_API_KEY: "sk-none",
      OPENAI_BASE_URL: model.url,
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const send = (id: number, method: string, params: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
  /** Reads until the answer; returns it and the times of the updates before it. */
  const answer = async (id: number): Promise<{ readonly message: Message; readonly updates: readonly number[] }> => {
    const updates: number[] = [];
    for (;;) {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`${command.join(" ")} ended.`);
      const message = JSON.parse(String(value)) as Message & { readonly params?: { readonly update?: object } };
      if (JSON.stringify(message.params?.update ?? "").includes("agent_message_chunk")) updates.push(performance.now());
      if (message.method === undefined && message.id === id) return { message, updates };
    }
  };
  try {
    send(0, "initialize", { protocolVersion: 1, clientCapabilities: {} });
    await answer(0);
    const initialize = performance.now() - began;
    if (!isOwn) return { initialize };
    send(1, "session/new", { cwd: project, mcpServers: [] });
    const { message } = await answer(1);
    const session = performance.now() - began;
    model.play(() => ({ say: "Done." }));
    const prompted = performance.now();
    send(2, "session/prompt", { sessionId: message.result?.sessionId, prompt: [{ type: "text", text: "Speak." }] });
    const { updates } = await answer(2);
    const [first = Number.NaN] = updates;
    return { initialize, session, firstUpdate: first - prompted };
  } finally {
    child.stdin.end();
    await new Promise((resolve) => child.once("close", resolve));
  }
};

const peers = (process.env["ACP_PEERS"] ?? "").split(";").flatMap((each) => {
  const [name, command] = each.split("=");
  return name === undefined || command === undefined ? [] : [{ name, command: command.split(" "), isOwn: false }];
});
const agents = [
  { name: "node -e 0", command: [process.execPath, "-e", floorScript()], isOwn: false },
  {
    name: "parley acp",
    command: [process.execPath, bin, "acp", "--model", "openai-chat/gpt-4.1"],
    isOwn: true,
  },
  ...peers,
];

/** The smallest program that answers: what Node itself takes. */
function floorScript(): string {
  return 'process.stdin.once("data",()=>console.log(JSON.stringify({jsonrpc:"2.0",id:0,result:{}})))';
}

const results = new Map(agents.map(({ name }) => [name, [] as Times[]]));
for (let round = 0; round < rounds + 2; round += 1)
  for (const { name, command, isOwn } of agents) {
    const times = await measure(command, isOwn);
    // The first two rounds fill the code cache.
    if (round >= 2) results.get(name)?.push(times);
  }

/** Microseconds from an event of the agent to its line, without writing it. */
function perUpdate(): number {
  const count = 200_000;
  const context = { folder: "/", features: { terminalOutput: true, notices: true, compaction: true }, entries: 1 };
  let state = initialState;
  let bytes = 0;
  const send = new Connection((line) => void (bytes += line.length), {
    request: async () => ({}),
    notification: () => undefined,
  });
  const began = performance.now();
  for (let at = 0; at < count; at += 1) {
    const folded = foldEvent(state, { type: "text", text: `word ${at}` }, context);
    state = folded.state;
    for (const update of folded.updates) send.notify("session/update", { sessionId: "s", update });
  }
  if (bytes === 0) throw new Error("Nothing was written.");
  return (1000 * (performance.now() - began)) / count;
}

const summary = (values: readonly number[]): string => {
  const sorted = values.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)];
  return median === undefined ? "" : `${median.toFixed(2)} (${(sorted[0] ?? 0).toFixed(2)})`;
};
const columns = ["initialize", "session", "firstUpdate"] as const;
process.stdout.write(`median (minimum) in ms, ${rounds} rounds, load ${(loadavg()[0] ?? 0).toFixed(1)}\n`);
for (const [name, times] of results)
  process.stdout.write(
    `${name.padEnd(12)} ${columns.map((column) => `${column} ${summary(times.flatMap((each) => each[column] ?? []))}`).join("  ")}\n`,
  );
process.stdout.write(`work per update: ${perUpdate().toFixed(2)} µs\n`);
model.close();
await rm(base, { recursive: true, force: true });
