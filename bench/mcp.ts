/*
 * npm run bench:mcp
 * The cost of MCP servers: how much later the packaged program sends its first request with ten servers, one of which
 * takes 30 s to start, and how long 1,000 tools take beyond their transfer. Alternating in the same run; medians, and
 * minima, which a busy machine disturbs least.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { readServerConfigs } from "../src/mcp/config/read-servers.ts";
import { openMcpServers } from "../src/mcp/servers.ts";
import { realWorld } from "../src/world/real/world.ts";
import { openScriptedServer } from "./agent-server.ts";

const rounds = Number(process.env["ROUNDS"] ?? 15);
const dist = fileURLToPath(new URL("../dist", import.meta.url));
const scripted = fileURLToPath(new URL("../test/mcp/scripted-server.mjs", import.meta.url));
const base = await mkdtemp(join(tmpdir(), "parley-bench-mcp-"));
const project = join(base, "project");
/** A copy, so that a build meanwhile changes nothing. */
const bin = join(base, "dist", "parley.cjs");
const model = await openScriptedServer();

const server = (...behaviour: readonly string[]): object => ({
  command: process.execPath,
  args: [scripted, ...behaviour],
});
const ten = Object.fromEntries(
  Array.from({ length: 10 }, (_, index) => [`s${index}`, index === 0 ? server("slow", "30000") : server("honest")]),
);

/** A separate home folder with these servers. */
const homeWith = async (name: string, mcpServers: object): Promise<string> => {
  const home = join(base, name);
  await mkdir(join(home, ".parley"), { recursive: true });
  await writeFile(join(home, ".parley", "settings.json"), JSON.stringify({ mcpServers }));
  return home;
};

/** From the start of the process to its first request: elapsed time, and processor time. */
const firstRequest = async (home: string): Promise<readonly number[]> => {
  let used = Number.NaN;
  const exchanges = model.play(() => {
    used = processorTime(child.pid);
    return { say: "Done." };
  });
  const began = performance.now();
  const child = spawn(process.execPath, [bin, "-p", "Do it.", "--model", "openai-chat/gpt-4.1"], {
    cwd: project,
    env: {
      PATH: process.env["PATH"],
      HOME: home,
      PARLEY_HOME: join(home, ".parley"),
      OPENAI_API_KEY: "sk-none",
      OPENAI_BASE_URL: model.url,
    },
    stdio: ["ignore", "ignore", "inherit"],
  });
  await once(child, "close");
  return [(exchanges[0]?.received ?? Number.NaN) - began, used];
};

/** Processor time of a process so far, in milliseconds, from Linux: not affected by a busy machine. */
const processorTime = (pid: number | undefined): number => {
  const threads = `/proc/${pid}/task`;
  const used = readdirSync(threads).map((thread) => readFileSync(join(threads, thread, "schedstat"), "utf8"));
  return used.reduce((all, each) => all + Number(each.split(" ")[0]) / 1e6, 0);
};

/** A server that offers this many tools, from its start until they can be sent to models. */
const offered = async (count: number): Promise<readonly number[]> => {
  const world = realWorld();
  const { servers: configs } = readServerConfigs(
    { s: server("offers", String(count)) },
    { from: "person", env: world.env },
  );
  const began = performance.now();
  const servers = openMcpServers({ world, configs, root: base });
  await servers.settled(AbortSignal.timeout(60_000));
  servers.applyChanges();
  if (servers.declarations().length < count) throw new Error("Not all tools are offered.");
  const time = performance.now() - began;
  await servers.close();
  return [time];
};

/** The same with a client that only reads and parses. */
const transferred = async (count: number): Promise<readonly number[]> => {
  const began = performance.now();
  const child = spawn(process.execPath, [scripted, "offers", String(count)], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: object): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return JSON.parse(String((await lines.next()).value));
  };
  await ask(1, "initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: {} });
  await ask(2, "tools/list", {});
  const time = performance.now() - began;
  child.stdin.end();
  await once(child, "exit");
  return [time];
};

type Measured = { readonly median: number; readonly least: number };
type Measure = (round: number) => Promise<readonly number[]>;

/** All of them alternating, so that all run under the same conditions. The first round warms up. */
const inTurns = async <Name extends string>(
  measures: Readonly<Record<Name, Measure>>,
): Promise<Readonly<Record<Name, readonly [Measured, Measured]>>> => {
  const found = new Map<string, (readonly number[])[]>();
  for (let round = 0; round <= rounds; round += 1)
    for (const [name, measure] of Object.entries(measures) as [Name, Measure][]) {
      const figures = await measure(round);
      if (round > 0) found.set(name, [...(found.get(name) ?? []), figures]);
    }
  const summed = [...found].map(([name, all]) => [name, [0, 1].map((at) => summary(all.map((each) => each[at])))]);
  return Object.fromEntries(summed) as Record<Name, readonly [Measured, Measured]>;
};

const summary = (figures: readonly (number | undefined)[]): Measured => {
  const sorted = figures.map((each) => each ?? Number.NaN).toSorted((one, other) => one - other);
  return { median: sorted[sorted.length >> 1] ?? Number.NaN, least: sorted[0] ?? Number.NaN };
};

const cell = (figure: number, digits = 1): string => figure.toFixed(digits).padStart(8);
const shown = ({ median, least }: Measured): string => `${cell(median)} ${cell(least)}`;
const ratio = (one: Measured, other: Measured): string =>
  `${cell(one.median / other.median, 2)} ${cell(one.least / other.least, 2)}`;
const say = (text: string): void => void process.stdout.write(`${text}\n`);

try {
  await cp(dist, join(base, "dist"), { recursive: true, filter: (path) => path !== join(dist, "lib") });
  await writeFile(join(base, "package.json"), JSON.stringify({ type: "module" }));
  say(`${process.version}, ${rounds} rounds, load ${loadavg()[0]?.toFixed(1)}; milliseconds: median, least\n`);
  await mkdir(project);
  const [none, known, many] = [
    await homeWith("none", {}),
    await homeWith("known", ten),
    await homeWith("many", { s: server("offers", "1000") }),
  ];
  const first = await inTurns({
    none: () => firstRequest(none),
    known: () => firstRequest(known),
    fresh: async (round) => firstRequest(await homeWith(`fresh-${round}`, ten)),
    many: () => firstRequest(many),
  });
  const row = (what: string, [time, used]: readonly [Measured, Measured]): void => {
    say(`${what.padEnd(36)}${shown(time)}   ratio ${ratio(time, first.none[0])}`);
    say(`${"  of the processor's time".padEnd(36)}${shown(used)}   ratio ${ratio(used, first.none[1])}`);
  };
  row("first request without servers", first.none);
  row("with ten, one of 30 s (<= 1.2)", first.known);
  row("with ten, never seen before (<= 1.2)", first.fresh);
  row("with 1,000 tools from the last time", first.many);
  const tools = await inTurns({
    ours: () => offered(1000),
    oursOne: () => offered(1),
    theirs: () => transferred(1000),
    theirsOne: () => transferred(1),
  });
  const beyond = (of: keyof Measured): number =>
    tools.ours[0][of] - tools.oursOne[0][of] - (tools.theirs[0][of] - tools.theirsOne[0][of]);
  say(`\n1,000 tools offered                 ${shown(tools.ours[0])}   one ${shown(tools.oursOne[0])}`);
  say(`1,000 tools read and parsed         ${shown(tools.theirs[0])}   one ${shown(tools.theirsOne[0])}`);
  say(`beyond the transfer (< 100)         ${cell(beyond("median"))} ${cell(beyond("least"))}`);
} finally {
  model.close();
  await rm(base, { recursive: true, force: true });
}
