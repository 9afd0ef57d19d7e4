import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";

/*
 * npm run bench:gateway, or with a folder in which peers are installed (npm i @portkey-ai/gateway @musistudio/claude-code-router):
 * the first argument or GATEWAY_PEERS. The second argument is the number of rounds.
 * One server that streams Chat Completions at a steady pace; clients ask it directly and through gateways, in turns. `first` is the
 * time to the first byte of the body, `event` the time from the server's write of an event to its arrival at the client, both
 * medians in milliseconds above the direct way (`least` is the least first); `cpu` is the processor time of the gateway per stream in milliseconds, which does
 * not depend on the load of the machine; `rate` is complete streams per second with 64 at once; `memory` is the resident size
 * afterwards. chat: a client of the same API. messages: an Anthropic client, so everything is translated. history: the same with 200
 * messages before it.
 */
const peers = process.argv[2] ?? process.env["GATEWAY_PEERS"];
const events = 60;
/** Milliseconds between two events of a stream. */
const pace = 2;
const sequential = 10;
const concurrent = 64;
const rounds = Number(process.argv[3] ?? 5);

type Way = {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: object;
  readonly pid?: number | undefined;
};

/** A conversation of 200 messages, about 200 kB. */
const history = Array.from({ length: 200 }, (_, index) => ({
  role: index % 2 === 0 ? "user" : "assistant",
  content: `message ${index} ${"text ".repeat(200)}`,
}));

const chatBody = (model: string): object => ({ model, stream: true, messages: [{ role: "user", content: "Go." }] });
const messagesBody = (model: string): object => ({
  model,
  stream: true,
  max_tokens: 4000,
  messages: [{ role: "user", content: "Go." }],
});

const serveUpstream = async (): Promise<{ readonly server: Server; readonly port: number }> => {
  const chunk = (delta: object, finish: string | null): string =>
    `data: ${JSON.stringify({ id: "c1", object: "chat.completion.chunk", created: 1, model: "gpt-4o", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.socket?.setNoDelay(true);
      let sent = 0;
      const next = (): void => {
        if (sent === 0) response.write(chunk({ role: "assistant", content: "" }, null));
        response.write(chunk({ content: `word ${sent} @${performance.now().toFixed(3)} ` }, null));
        sent += 1;
        if (sent < events) setTimeout(next, pace);
        else response.end(`${chunk({}, "stop")}data: [DONE]\n\n`);
      };
      next();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, port: (server.address() as AddressInfo).port };
};

type Timed = { readonly first: number; readonly delays: readonly number[]; readonly isWhole: boolean };

/** Sends one request; returns the time to the first byte, the delay of every event, and whether the stream was complete. */
const send = ({ url, headers, body }: Way): Promise<Timed> =>
  new Promise((resolve, reject) => {
    const start = performance.now();
    const sent = httpRequest(
      url,
      { method: "POST", headers: { "content-type": "application/json", ...headers } },
      (response) => {
        let first = 0;
        let text = "";
        const delays: number[] = [];
        response.on("data", (chunk: Buffer) => {
          const now = performance.now();
          if (first === 0) first = now - start;
          const arrived = chunk.toString();
          for (const [, stamp] of arrived.matchAll(/@(\d+\.\d+) /g)) delays.push(now - Number(stamp));
          text += arrived;
        });
        response.on("end", () => resolve({ first, delays, isWhole: text.includes(`word ${events - 1} `) }));
        response.on("error", reject);
      },
    );
    sent.on("error", reject);
    sent.end(JSON.stringify(body));
  });

const median = (values: readonly number[]): number =>
  values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;

type Figures = { first: number; least: number; event: number; cpu: number; rate: number; whole: number };

const measure = async (way: Way): Promise<Figures> => {
  const cpuThen = cpuOf(way.pid);
  const timed: Timed[] = [];
  for (let turn = 0; turn < sequential; turn++) timed.push(await send(way));
  const start = performance.now();
  const together = await Promise.all(Array.from({ length: concurrent }, () => send(way)));
  const rate = (together.filter(({ isWhole }) => isWhole).length / (performance.now() - start)) * 1000;
  return {
    first: median(timed.map(({ first }) => first)),
    least: Math.min(...timed.map(({ first }) => first)),
    event: median(timed.flatMap(({ delays }) => delays)),
    cpu: (cpuOf(way.pid) - cpuThen) / (sequential + concurrent),
    rate,
    whole: timed.filter(({ isWhole }) => isWhole).length / sequential,
  };
};

/** The processor time of a process so far, in milliseconds. */
const cpuOf = (pid: number | undefined): number => {
  const path = `/proc/${pid}/stat`;
  if (pid === undefined || !existsSync(path)) return 0;
  const fields = readFileSync(path, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

const memoryOf = (pid: number | undefined): string => {
  const path = `/proc/${pid}/status`;
  if (pid === undefined || !existsSync(path)) return "";
  return `${Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(path, "utf8"))?.[1] ?? 0) / 1024)} MB`;
};

const children: ChildProcess[] = [];

const start = async (
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  port: number,
): Promise<number | undefined> => {
  const child = spawn(process.execPath, [file, ...args], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: "ignore",
  });
  children.push(child);
  for (let attempt = 0; attempt < 300; attempt++) {
    const isUp = await new Promise<boolean>((resolve) => {
      httpRequest({ port, path: "/", timeout: 500 }, (response) => resolve(response.resume().statusCode !== undefined))
        .on("error", () => resolve(false))
        .end();
    });
    if (isUp) return child.pid;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${file} did not start`);
};

const openWays = async (
  upstream: number,
): Promise<{ readonly chat: readonly Way[]; readonly messages: readonly Way[] }> => {
  const home = mkdtempSync(join(tmpdir(), "parley-bench-"));
  const base = `http://127.0.0.1:${upstream}`;
  const direct: Way = { name: "direct", url: `${base}/v1/chat/completions`, headers: {}, body: chatBody("gpt-4o") };
  const [ours, portkey, ccr] = [upstream + 1, upstream + 2, upstream + 3];
  const token = "bench-token";
  const pid = await start(
    "dist/parley.cjs",
    ["gateway", "--port", String(ours), "--token", token],
    {
      HOME: home,
      PARLEY_HOME: join(home, ".parley"),
      OPENAI_API_KEY: "sk-bench",
      PARLEY_OPENAI_CHAT_BASE_URL: `${base}/v1`,
    },
    ours,
  );
  const own = { headers: { authorization: `Bearer ${token}` }, pid };
  const chat: Way[] = [
    direct,
    {
      name: "parley",
      url: `http://127.0.0.1:${ours}/v1/chat/completions`,
      body: chatBody("openai-chat/gpt-4o"),
      ...own,
    },
  ];
  const messages: Way[] = [
    direct,
    { name: "parley", url: `http://127.0.0.1:${ours}/v1/messages`, body: messagesBody("openai-chat/gpt-4o"), ...own },
  ];
  if (peers === undefined) return { chat, messages };
  const portkeyFile = join(peers, "node_modules/@portkey-ai/gateway/build/start-server.js");
  if (existsSync(portkeyFile))
    chat.push({
      name: "portkey",
      url: `http://127.0.0.1:${portkey}/v1/chat/completions`,
      headers: {
        authorization: "Bearer sk-bench",
        "x-portkey-provider": "openai",
        "x-portkey-custom-host": `${base}/v1`,
      },
      body: chatBody("gpt-4o"),
      pid: await start(
        portkeyFile,
        [`--port=${portkey}`, "--headless"],
        { HOME: home, NODE_ENV: "production" },
        portkey,
      ),
    });
  const ccrFile = join(peers, "node_modules/@musistudio/claude-code-router/dist/cli.js");
  if (existsSync(ccrFile)) {
    mkdirSync(join(home, ".claude-code-router"), { recursive: true });
    writeFileSync(
      join(home, ".claude-code-router/config.json"),
      JSON.stringify({
        PORT: ccr,
        LOG: false,
        Providers: [
          { name: "up", api_base_url: `${base}/v1/chat/completions`, api_key: "sk-bench", models: ["gpt-4o"] },
        ],
        Router: { default: "up,gpt-4o" },
      }),
    );
    messages.push({
      name: "claude-code-router",
      url: `http://127.0.0.1:${ccr}/v1/messages`,
      headers: { "x-api-key": "any", "anthropic-version": "2023-06-01" },
      body: messagesBody("up,gpt-4o"),
      pid: await start(ccrFile, ["start"], { HOME: home }, ccr),
    });
  }
  return { chat, messages };
};

const report = async (title: string, ways: readonly Way[]): Promise<void> => {
  const figures = new Map<string, Figures[]>(ways.map(({ name }) => [name, []]));
  // The first round warms up and does not count.
  for (let round = 0; round <= rounds; round++)
    for (const way of ways) {
      const measured = await measure(way);
      if (round > 0) figures.get(way.name)?.push(measured);
    }
  const of = (name: string, key: keyof Figures): number => {
    const all = (figures.get(name) ?? []).map((one) => one[key]);
    return key === "least" ? Math.min(...all) : median(all);
  };
  process.stdout.write(`\n${title}\n${"".padEnd(20)}first    least    event    cpu      rate     whole  memory\n`);
  for (const { name, pid } of ways) {
    const isDirect = name === "direct";
    const above = (key: "first" | "least" | "event"): string =>
      isDirect ? of(name, key).toFixed(2) : `+${(of(name, key) - of("direct", key)).toFixed(2)}`;
    const columns = [
      above("first"),
      above("least"),
      above("event"),
      of(name, "cpu").toFixed(2),
      of(name, "rate").toFixed(0),
    ];
    process.stdout.write(
      `${name.padEnd(20)}${columns.map((text) => text.padEnd(9)).join("")}${of(name, "whole").toFixed(2).padEnd(7)}${memoryOf(pid)}\n`,
    );
  }
};

const { server, port } = await serveUpstream();
try {
  const ways = await openWays(port);
  process.stdout.write(
    `${cpus()[0]?.model ?? ""} x ${cpus().length}, Node ${process.version}, load ${loadavg()[0]?.toFixed(1)}\n`,
  );
  await report(`chat: ${events} events, the same API on both sides`, ways.chat);
  await report(`messages: ${events} events, translated`, ways.messages);
  const long = ways.messages.map((way) => ({
    ...way,
    body: { ...way.body, messages: [...history, { role: "user", content: "Go." }] },
  }));
  await report(`history: ${events} events, translated, after ${history.length} messages`, long);
} finally {
  for (const child of children) child.kill("SIGKILL");
  server.closeAllConnections();
  server.close();
}
