import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { serve, type RunningSimulator } from "../src/sim/serve.ts";
import { createSimulator } from "../src/sim/simulator.ts";
import { openFakeCollector, type FakeCollector, type ReadSpan } from "../src/telemetry/collector.cases.ts";
import { bin, ensureBuilt, root, type Ran } from "./built.ts";
import { itInAll, sampleCases } from "./support/tier.ts";

/* The program itself, a simulated API and a collector, each on a port of its own. */

const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh";
const words = "What does the note about the marmalade say?";
const script = {
  rules: [
    {
      prompt: "marmalade",
      replies: [
        {
          think: "I shall look.",
          call: [
            { tool: "read_file", input: { absolute_path: "note.txt" } },
            { tool: "read_file", input: { absolute_path: "absent.txt" } },
          ],
        },
        { say: "It says that there is none." },
      ],
    },
  ],
};

let api: RunningSimulator;
const folders: string[] = [];
const collectors: FakeCollector[] = [];

beforeAll(ensureBuilt);
beforeAll(async () => {
  api = await serve({ "": createSimulator({ provider: "anthropic", script }) });
});
afterAll(() => api.close());
afterEach(async () => {
  for (const collector of collectors.splice(0)) {
    expect(collector.faults).toEqual([]);
    await collector.close();
  }
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

const collect = async (...given: Parameters<typeof openFakeCollector>): Promise<FakeCollector> => {
  const collector = await openFakeCollector(...given);
  collectors.push(collector);
  return collector;
};

type Wish = {
  readonly settings?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly more?: readonly string[];
};

/** Runs the task once, and tells whether anything of telemetry was loaded; with these settings, in a fresh folder and home. */
const run = async ({ settings = {}, env = {}, more = [] }: Wish): Promise<Ran & { readonly observes: boolean }> => {
  const home = mkdtempSync(join(tmpdir(), "parley-telemetry-"));
  folders.push(home);
  mkdirSync(join(home, ".parley"));
  const project = join(home, "project");
  mkdirSync(project);
  writeFileSync(join(project, "note.txt"), "There is no marmalade.\n");
  writeFileSync(join(home, ".parley", "settings.json"), JSON.stringify(settings));
  const list = join(home, "loaded.txt");
  const hooks = fileURLToPath(new URL("support/loaded.mjs", import.meta.url));
  const args = ["--import", hooks, bin, "-p", words, "--model", "anthropic/claude-sonnet-5", ...more];
  const child = spawn(process.execPath, args, {
    cwd: project,
    env: { HOME: home, LOADED: list, ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: api.url, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk: Buffer) => (out += String(chunk)));
  child.stderr.on("data", (chunk: Buffer) => (err += String(chunk)));
  const [code] = (await once(child, "close")) as [number | null];
  const loaded = readFileSync(list, "utf8")
    .split("\n")
    .filter((url) => /\/dist\/parts\/.*\.cjs$/.test(url));
  expect(loaded.length).toBeGreaterThan(0);
  const files = [...new Set(loaded.map((url) => fileURLToPath(url)))];
  return {
    code,
    out,
    err,
    observes: files.some((file) => readFileSync(file, "utf8").includes("gen_ai.provider.name")),
  };
};

const answer = "It says that there is none.\n";

describe("a run with a collector", () => {
  it("exports the turn, its requests and tool calls, without content", async () => {
    const collector = await collect();
    const { code, out, observes } = await run({ settings: { telemetry: { endpoint: collector.url } } });
    expect([code, out]).toEqual([0, answer]);
    expect(observes).toBe(true);
    const spans = collector.spans();
    const turn = spans.find(({ parent }) => parent === undefined);
    // Calls run side by side, so who ends first is chance.
    const order = (span: ReadSpan): string => JSON.stringify(span.attributes["gen_ai.tool.call.id"]);
    const calls = spans.slice(1, 3).toSorted((one, other) => order(one).localeCompare(order(other)));
    expect(
      [spans[0], ...calls, ...spans.slice(3)].map((span) => [span?.name, span?.parent, span?.attributes["error.type"]]),
    ).toEqual([
      ["chat claude-sonnet-5", turn?.id, undefined],
      ["execute_tool read_file", turn?.id, undefined],
      ["execute_tool read_file", turn?.id, "file_not_found"],
      ["chat claude-sonnet-5", turn?.id, undefined],
      ["invoke_agent parley", undefined, undefined],
    ]);
    expect(spans[0]?.attributes).toMatchObject({
      "gen_ai.provider.name": "anthropic",
      "gen_ai.response.model": "claude-sonnet-5",
      "gen_ai.response.finish_reasons": ["tool_calls"],
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(api.url).port),
    });
    expect(spans[0]?.attributes["gen_ai.usage.input_tokens"]).toBeGreaterThan(100);
    expect(collector.logs().map(({ name }) => name)).toEqual(
      ["api_request", "api_response", "tool_call", "tool_call", "api_request", "api_response"].map(
        (name) => `parley.${name}`,
      ),
    );
    expect(collector.metrics().map(({ name, points }) => [name, points.map(({ count }) => count)])).toEqual([
      ["gen_ai.client.token.usage", [2, 2]],
      ["gen_ai.client.operation.duration", [2]],
    ]);
    const sent = collector.requests.map(({ body }) => body).join();
    for (const word of ["marmalade", "note.txt", "absent.txt", "look", key]) expect(sent).not.toContain(word);
  });

  itInAll("exports content with logPrompts, and never a key", async () => {
    const collector = await collect();
    const { code } = await run({ settings: { telemetry: { endpoint: collector.url, logPrompts: true } } });
    expect(code).toBe(0);
    const sent = collector.requests.map(({ body }) => body).join();
    for (const word of [words, "note.txt", "There is no marmalade.", "It says that"]) expect(sent).toContain(word);
    expect(sent).not.toContain(key);
  });

  it("is not affected by a collector that is down, busy, wrong or silent", async () => {
    const refusing = (status: number) => collect((response) => void response.writeHead(status).end("no"));
    const silent = await collect(() => undefined);
    const deaf = await listenOnly();
    const endpoints = sampleCases(
      ["http://127.0.0.1:1", (await refusing(503)).url, (await refusing(404)).url, silent.url, deaf.url],
      3,
    );
    const runs = await Promise.all(
      endpoints.map((endpoint) => run({ settings: { telemetry: { endpoint } }, more: ["--output-format", "json"] })),
    );
    deaf.server.close();
    const told = ({ code, out }: Ran): unknown => {
      const { status, reason, response, stats } = JSON.parse(out) as Record<
        string,
        { requests: number; tool_calls: number }
      >;
      return [code, status, reason, response, stats?.requests, stats?.tool_calls];
    };
    expect(runs.map(told)).toEqual(endpoints.map(() => [0, "success", "stop", answer.trim(), 2, 2]));
  });
});

describe("a run without a collector", () => {
  const untouched = async (wish: Wish): Promise<void> => {
    const { code, out, observes } = await run(wish);
    expect([code, out, observes]).toEqual([0, answer, false]);
  };

  itInAll("does not load telemetry", async () => {
    await untouched({ settings: { telemetry: { logPrompts: true } } });
  });

  it("ignores OpenTelemetry variables", async () => {
    const collector = await collect();
    await untouched({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_TRACES_EXPORTER: "otlp" } });
    expect(collector.requests).toEqual([]);
  });
});

describe("a run with a debug log", () => {
  it("writes every event, with the report of each request; a file that cannot be written does not stop it", async () => {
    const path = join(mkdtempSync(join(tmpdir(), "parley-telemetry-")), "log");
    folders.push(join(path, ".."));
    const { code, out } = await run({ more: ["--debug", path] });
    expect([code, out]).toEqual([0, answer]);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const events = lines.map((line) => JSON.parse(line) as { type: string; time: string; report?: { target: string } });
    expect(events.every(({ time }) => /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(time))).toBe(true);
    expect(events.at(0)?.type).toBe("user");
    expect(events.at(-1)?.type).toBe("finished");
    expect(events.flatMap(({ type, report }) => (type === "request" ? [report?.target] : []))).toEqual([
      "anthropic/claude-sonnet-5",
      "anthropic/claude-sonnet-5",
    ]);
    const bad = await run({ more: ["--debug", join(path, "nowhere")] });
    expect([bad.code, bad.out]).toEqual([0, answer]);
    expect(bad.err.match(/Cannot write the debug log\. ENOTDIR/g)).toHaveLength(1);
  });

  itInAll("prints the reports with --explain, one per line", async () => {
    const { code, out, err } = await run({ more: ["--explain"] });
    expect([code, out]).toEqual([0, answer]);
    const reports = err.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as unknown] : []));
    expect(reports).toMatchObject([
      { number: 1, model: "anthropic/claude-sonnet-5", attempt: 1, report: { calls: [] } },
      { number: 2, report: { calls: [{ call: "hist_tool_1" }, { call: "hist_tool_2" }] } },
    ]);
  });
});

describe("the document", () => {
  it("lists every kind of event in a debug log", () => {
    const source = readFileSync(join(root, "src/agent/events.ts"), "utf8");
    const [, union = ""] = /export type AgentEvent =(.*?);\n\n/s.exec(source) ?? [];
    const kinds = [...union.matchAll(/readonly type: "([a-z-]+)"/g)].map(([, kind]) => kind);
    const [, table = ""] =
      /Every line has(.*?)\n\n[^|\n]/s.exec(readFileSync(join(root, "docs/telemetry.md"), "utf8")) ?? [];
    const listed = [...table.matchAll(/^\| (`[^|]+`) +\|/gm)].flatMap(([, cell = ""]) => cell.match(/[a-z-]+/g) ?? []);
    expect(kinds.length).toBeGreaterThan(15);
    expect(new Set(listed)).toEqual(new Set(kinds));
  });
});

/** A port that takes connections and never says a word. */
const listenOnly = async (): Promise<{ readonly url: string; readonly server: Server }> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
};
