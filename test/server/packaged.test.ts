import { spawn, type ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openFakeCollector } from "../../src/telemetry/collector.cases.ts";
import { bin, ensureBuilt } from "../built.ts";
import { readEvents, type ReadEvent } from "./read-events.ts";

/* `parley serve` as a program of its own, on files. */

const token = "a-token-of-this-test";
let base: string;
const children: ChildProcess[] = [];

beforeAll(ensureBuilt);
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "parley-serve-")));
  for (const folder of ["home", "project"]) mkdirSync(join(base, folder));
  const sha256 = createHash("sha256").update(token).digest("hex");
  writeFileSync(join(base, "tokens.json"), JSON.stringify({ tokens: [{ sha256, tenant: "local" }] }));
});
afterEach(async () => {
  for (const child of children.splice(0)) await end(child, "SIGKILL");
  rmSync(base, { recursive: true, force: true });
});

const end = async (child: ChildProcess, signal: NodeJS.Signals): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "close");
  child.kill(signal);
  await ended;
};

type RequestOptions = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
};

type Server = {
  readonly child: ChildProcess;
  readonly request: (path: string, init?: RequestOptions) => Promise<Response>;
  readonly create: () => Promise<string>;
  readonly say: (id: string, text: string, headers?: Record<string, string>) => Promise<Response>;
  /** Whether code of telemetry was loaded. */
  readonly hasTelemetry: () => boolean;
  /** Everything it printed. */
  readonly printed: () => string;
};

const start = async (options: readonly string[] = []): Promise<Server> => {
  const hooks = fileURLToPath(new URL("../support/loaded.mjs", import.meta.url));
  const list = join(base, "loaded.txt");
  const args = [
    "serve",
    "--folder",
    join(base, "project"),
    "--tokens",
    join(base, "tokens.json"),
    "--model",
    "offline",
    ...options,
  ];
  const child = spawn(process.execPath, ["--import", hooks, bin, ...args], {
    cwd: base,
    env: { PATH: process.env["PATH"] ?? "", HOME: base, PARLEY_HOME: join(base, "home"), LOADED: list },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let printed = "";
  for (const stream of [child.stdout!, child.stderr!])
    stream.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const [url] = (await once(createInterface(child.stdout!), "line")) as [string];
  const request = (path: string, init: RequestOptions = {}): Promise<Response> =>
    fetch(`${url}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...init.headers },
    });
  return {
    child,
    request,
    create: async () => {
      const response = await request("/v1/sessions", { method: "POST", body: "{}" });
      return ((await response.json()) as { readonly id: string }).id;
    },
    say: (id, text, headers = {}) =>
      request(`/v1/sessions/${id}/messages`, { method: "POST", headers, body: JSON.stringify({ text }) }),
    printed: () => printed,
    hasTelemetry: () =>
      readFileSync(list, "utf8")
        .split("\n")
        .filter((loaded) => /\/dist\/parts\/.*\.cjs$/.test(loaded))
        .some((loaded) => readFileSync(fileURLToPath(loaded), "utf8").includes("gen_ai.provider.name")),
  };
};

const eventsOf = async (server: Server, id: string, last?: string): Promise<readonly ReadEvent[]> =>
  readEvents(
    await server.request(`/v1/sessions/${id}/events?until=idle`, {
      headers: last === undefined ? {} : { "last-event-id": last },
    }),
  );

describe("parley serve as a program", () => {
  it("continues a follower with its Last-Event-ID after a restart: nothing is missed or repeated", async () => {
    const first = await start();
    const id = await first.create();
    await first.say(id, "hello");
    const before = await eventsOf(first, id);
    const seen = before.slice(0, 3);
    // Killed, not stopped: only what is on disk is left.
    await end(first.child, "SIGKILL");
    const second = await start();
    expect(await eventsOf(second, id, seen.at(-1)?.id)).toEqual(before.slice(3));
    await second.say(id, "hello again");
    const rest = await eventsOf(second, id, seen.at(-1)?.id);
    expect([...seen, ...rest]).toEqual(await eventsOf(second, id));
    expect(rest.slice(0, before.length - 3)).toEqual(before.slice(3));
    expect(rest.filter(({ event }) => event === "turn")).toHaveLength(2);
    expect(second.hasTelemetry()).toBe(false);
  });

  it("logs routes, and no token, session or text, whatever is sent and however it fails", async () => {
    const server = await start(["--log", "--a2a"]);
    const id = await server.create();
    await server.say(id, "marmalade");
    await eventsOf(server, id);
    const paths = [
      `/v1/sessions/${id}?token=${token}`,
      `/${token}`,
      `/v1/sessions/${token}`,
      `/a2a/rest/tasks/${token}`,
    ];
    for (const path of paths) await server.request(path, { headers: { "x-other": token } });
    await server.request(`/v1/sessions/${id}`, { headers: { authorization: `Basic ${token}` } });
    await server.request(`/v1/sessions/${id}/messages`, { method: "POST", body: `{"text": ${token}` });
    await server.request(`/v1/sessions/${id}/cancel`, { method: "POST", headers: { "idempotency-key": `${token} x` } });
    await server.request("/a2a", { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: token }) });
    await end(server.child, "SIGTERM");
    const printed = server.printed();
    const logged = [...printed.matchAll(/^([A-Z]+ \S+ \d+) [\d.]+ ms$/gm)].map(([, line = ""]) => line);
    expect(logged.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      "GET /v1/sessions/{id} 200",
      "GET /v1/sessions/{id} 404",
      "GET /v1/sessions/{id}/events 200",
      "GET extension 404",
      "GET extension 404",
      "GET unknown 401",
      "POST /v1/sessions 201",
      "POST /v1/sessions/{id}/cancel 400",
      "POST /v1/sessions/{id}/messages 202",
      "POST /v1/sessions/{id}/messages 400",
      "POST extension 200",
    ]);
    for (const secret of [token, id, "marmalade"]) expect(printed).not.toContain(secret);
  });

  it("exports a span for each request, and the turn as part of the request that posted its prompt", async () => {
    const collector = await openFakeCollector();
    writeFileSync(join(base, "home", "settings.json"), JSON.stringify({ telemetry: { endpoint: collector.url } }));
    const server = await start();
    const id = await server.create();
    const [trace, parent] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    await server.say(id, "marmalade", { traceparent: `00-${trace}-${parent}-01` });
    await eventsOf(server, id);
    await server.request(`/v1/sessions/${id}?secret=query`, { headers: { traceparent: "00-bad" } });
    await server.request("/v1/nothing/private-path", { headers: { authorization: "Bearer wrong" } });
    await end(server.child, "SIGTERM");
    expect(server.child.exitCode).toBe(0);

    const spans = collector.spans();
    const requests = spans.filter(({ kind }) => kind === 2);
    const described = requests
      .toSorted((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, attributes }) => [name, attributes]);
    expect(described).toEqual(
      [
        ["GET", undefined, 401],
        ["GET", "/v1/sessions/{id}", 200],
        ["GET", "/v1/sessions/{id}/events", 200],
        ["POST", "/v1/sessions", 201],
        ["POST", "/v1/sessions/{id}/messages", 202],
      ].map(([method, route, status]) => [
        [method, ...(route === undefined ? [] : [route])].join(" "),
        {
          "http.request.method": method,
          ...(route === undefined ? {} : { "http.route": route }),
          "http.response.status_code": status,
        },
      ]),
    );
    const posted = requests.find(({ name }) => name === "POST /v1/sessions/{id}/messages");
    expect([posted?.trace, posted?.parent]).toEqual([trace, parent]);
    expect(requests.filter((each) => each !== posted).map((each) => each.parent)).toEqual(Array(4).fill(undefined));
    const turn = spans.find(({ name }) => name === "invoke_agent parley");
    expect([turn?.trace, turn?.parent, turn?.attributes["gen_ai.conversation.id"]]).toEqual([trace, posted?.id, id]);
    const chat = spans.find(({ name }) => name.startsWith("chat "));
    expect([chat?.trace, chat?.parent]).toEqual([trace, turn?.id]);
    const sent = collector.requests.map(({ body }) => body).join();
    for (const word of ["marmalade", token, "secret", "private-path"]) expect(sent).not.toContain(word);
    expect(collector.faults).toEqual([]);
    await collector.close();
  });
});
