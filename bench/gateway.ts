import { cpus, loadavg } from "node:os";
import { startGateways, type Api } from "./gateway/gateways.ts";
import { closeConnections, cpuOf, median, memoryOf, send, type Way } from "./gateway/load.ts";

/*
 * npm run bench:gateway -- DIR..., where each DIR is a folder in which a peer is installed; --rounds N and --only TEXT select.
 * Peers: `npm i @musistudio/claude-code-router`, and `npm i @portkey-ai/gateway` with "overrides": {"@hono/node-server": "1.3.3",
 * "hono": "4.9.7"} in its package.json, as with newer ones every stream is answered with an exception. On a busy machine:
 * `nice -n -20 node --import tsx bench/gateway.ts DIR...`. (Real-time priority stops the machine: Node's threads wait for each
 * other by spinning.)
 *
 * The target, each gateway and this program, which sends the load, are processes of their own. Gateways take turns in short
 * rounds; figures are the least of the rounds, which other work of the machine disturbs least, in milliseconds. first: from the request to the first byte of the body. event: from the
 * target's write to the client's read, one event every 3 ms. Both are above the direct way. cpu: processor time of the gateway for a
 * request with one event, for each event of a slow stream, and for each of a stream as fast as it is read. rate: complete streams per
 * second, 64 at once. bare proxy: 15 lines of Node that forward bytes.
 */
const argumentsOf = process.argv.slice(2);
const option = (name: string): string | undefined => {
  const at = argumentsOf.indexOf(name);
  return at === -1 ? undefined : argumentsOf.splice(at, 2)[1];
};
const rounds = Number(option("--rounds") ?? 7);
const only = option("--only") ?? "";

/** 200 messages, about 200 kB. */
const history = Array.from({ length: 200 }, (_, index) => ({
  role: index % 2 === 0 ? "user" : "assistant",
  content: `message ${index} ${"text ".repeat(200)}`,
}));

type Figures = {
  readonly first: number;
  readonly event: number;
  readonly cpuRequest: number;
  readonly cpuEvent: number;
  readonly cpuFast: number;
  readonly rate: number;
};

const measure = async (way: Way, before: readonly object[]): Promise<Figures> => {
  const isShort = before.length === 0;
  const requests = isShort ? 30 : 10;
  const firsts: number[] = [];
  closeConnections();
  let cpu = cpuOf(way.pid);
  const cpuSince = (count: number): number => {
    const then = cpu;
    cpu = cpuOf(way.pid);
    return (cpu - then) / count;
  };
  for (let turn = 0; turn < requests; turn++) {
    const { first, isWhole } = await send(way, { events: 1, pace: 0, history: before });
    if (!isWhole) throw new Error(`${way.name}: a stream is not complete.`);
    firsts.push(first);
  }
  const cpuRequest = cpuSince(requests);
  const first = median(firsts);
  if (!isShort) return { first, cpuRequest, event: 0, cpuEvent: 0, cpuFast: 0, rate: 0 };
  const { delays } = await send(way, { events: 150, pace: 3, history: [] });
  const cpuEvent = (cpuSince(1) - cpuRequest) / 150;
  await send(way, { events: 3000, pace: 0, history: [] });
  const cpuFast = (cpuSince(1) - cpuRequest) / 3000;
  const start = performance.now();
  const load = { events: 60, pace: 2, history: [] };
  const streams = await Promise.all(
    Array.from({ length: 64 }, async () => [await send(way, load), await send(way, load)]),
  );
  const rate = (streams.flat().filter(({ isWhole }) => isWhole).length / (performance.now() - start)) * 1000;
  return { first, event: median(delays), cpuRequest, cpuEvent, cpuFast, rate };
};

const columns = {
  first: (figures: Figures) => figures.first,
  event: (figures: Figures) => figures.event,
  "cpu/request": (figures: Figures) => figures.cpuRequest,
  "cpu/event": (figures: Figures) => figures.cpuEvent,
  "cpu/fast": (figures: Figures) => figures.cpuFast,
  rate: (figures: Figures) => figures.rate,
} as const;
type Column = keyof typeof columns;
const isLatency = (column: Column): boolean => column === "first" || column === "event";

const report = async (title: string, ways: readonly Way[], before: readonly object[]): Promise<void> => {
  const all = new Map<string, Figures[]>(ways.map(({ name }) => [name, []]));
  // The first rounds warm up and do not count.
  for (let round = -2; round < rounds; round++)
    for (const way of ways) {
      const figures = await measure(way, before);
      if (round >= 0) all.get(way.name)?.push(figures);
    }
  const names = Object.keys(columns) as Column[];
  const shown = names.filter((name) => before.length === 0 || name === "first" || name === "cpu/request");
  const raw = (way: string, column: Column): number => {
    const values = (all.get(way) ?? []).map(columns[column]);
    return column === "rate" ? median(values) : Math.min(...values);
  };
  const valueOf = (way: string, column: Column): number =>
    raw(way, column) - (isLatency(column) && way !== "direct" ? raw("direct", column) : 0);
  const row = (cells: readonly string[]): string =>
    cells.map((cell, index) => cell.padEnd(index === 0 ? 22 : 13)).join("");
  const lines = ways.map((way) => {
    const memory = memoryOf(way.pid);
    const cell = (column: Column): string =>
      (isLatency(column) && way.pid !== undefined ? "+" : "") +
      valueOf(way.name, column).toFixed(column === "rate" ? 0 : 3);
    return row([way.name, ...shown.map(cell), memory === 0 ? "" : `${memory} MB`]);
  });
  const peers = ways.filter(({ name, pid }) => pid !== undefined && name !== "parley" && name !== "bare proxy");
  const ratio = (column: Column): string => {
    const best = peers.map(({ name }) => valueOf(name, column));
    return (valueOf("parley", column) / (column === "rate" ? Math.max(...best) : Math.min(...best))).toFixed(2);
  };
  const last = peers.length === 0 ? [] : [row(["parley / best peer", ...shown.map(ratio)])];
  process.stdout.write(["", title, row(["", ...shown, "memory"]), ...lines, ...last, ""].join("\n"));
};

const { gateways, close } = await startGateways(argumentsOf);
try {
  process.stdout.write(
    `${cpus()[0]?.model ?? ""} x ${cpus().length}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  const pairs: readonly (readonly [Api, Api])[] = [
    ["messages", "messages"],
    ["chat", "chat"],
    ["messages", "chat"],
    ["chat", "messages"],
  ];
  for (const [client, target] of pairs) {
    const ways = gateways.flatMap(({ way }) => way(client, target) ?? []);
    for (const before of [[], history]) {
      const title = `${client} in front of ${target}, ${before.length === 0 ? "a short request" : `${before.length} messages before it`}`;
      if (title.includes(only)) await report(title, ways, before);
    }
  }
} finally {
  close();
}
