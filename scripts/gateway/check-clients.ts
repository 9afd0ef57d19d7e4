/*
 * Runs real command-line agents through the gateway against strict simulators of every API family, and writes the table of
 * docs/gateway.md from the run. The clients are installed beforehand; see --clients.
 *
 *     npx tsx scripts/gateway/check-clients.ts [--clients DIR] [--node DIR] [--only claude,codex] [--targets google,openai]
 *                                              [--steps N] [--results FILE] [--write] [--verbose]
 *
 * DIR holds NAME/node_modules/.bin/NAME for each client; without it they are found on the PATH. --node is the folder of a
 * newer Node for clients that need one. --steps adds a run of N steps with the first target. --results keeps the results in a
 * file, so that several runs make one table; --write puts the table into the document.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway } from "../../src/gateway/serve.ts";
import { lint } from "../../src/rules/lint.ts";
import type { SimModelRequest } from "../../src/sim/model/types.ts";
import type { LogEntry } from "../../src/sim/request-log.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { environmentFor, serveSimulators } from "../../test/support/serve-simulators.ts";
import { findProgram, testClients, type GatewayTestClient } from "./clients.ts";
import { checkRun, type RunChecks } from "./checks.ts";
import { doneText, promptFor, receivedBy, replyTo } from "./model.ts";
import { pixelPng } from "./pixel.ts";
import { writeClientTable, type ClientRow } from "./table.ts";

const { values: options } = parseArgs({
  options: {
    clients: { type: "string" },
    node: { type: "string" },
    only: { type: "string" },
    targets: { type: "string" },
    steps: { type: "string" },
    results: { type: "string" },
    write: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
  },
});

/** A model of each API family, and of providers that differ most from it. */
const allTargets: Readonly<Record<string, string>> = {
  anthropic: "anthropic/claude-opus-5",
  google: "google/gemini-3.1-pro-preview",
  openai: "openai/gpt-5.6",
  bedrock: "bedrock/us.anthropic.claude-opus-5",
  deepseek: "deepseek/deepseek-v4-pro",
  openrouter: "openrouter/anthropic/claude-opus-5",
  mistral: "mistral/mistral-medium-latest",
  kimi: "kimi/kimi-k3",
};

const targets = (options.targets?.split(",") ?? Object.keys(allTargets)).map((name) => allTargets[name] ?? name);
const clients = testClients.filter(({ bin }) => options.only?.split(",").includes(bin) ?? true);

const root = mkdtempSync(join(tmpdir(), "parley-clients-"));
const project = join(root, "project");
mkdirSync(project);
for (let n = 1; n <= 20; n++) writeFileSync(join(project, `file${n}.txt`), `content of file ${n}\n`.repeat(20));
writeFileSync(join(project, "pixel.png"), pixelPng());

let received: SimModelRequest[] = [];
let folder = project;
const simulators = await serveSimulators({
  script: (request) => {
    received.push(request);
    return replyTo(request, folder);
  },
});
const token = "sk-ant-gateway-test-token";
let target = targets[0] ?? "";
const world = realWorld({ ...everyKey, ...environmentFor(simulators.bases) });
const gateway = await serveGateway(
  openGateway({
    world,
    lint,
    config: () => ({
      routes: [{ to: target }],
      clients: { test: { tokenHash: createHash("sha256").update(token).digest("hex") } },
    }),
  }),
);

/** Starts a client and waits for its end. */
const runClient = async (
  program: string,
  args: readonly string[],
  { env, cwd, home }: { env: Readonly<Record<string, string>>; cwd: string; home: string },
): Promise<{ readonly code: number | null; readonly output: string }> => {
  const path = [options.node, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"]
    .filter(Boolean)
    .join(":");
  const child = spawn(program, args, {
    cwd,
    env: { PATH: path, HOME: home, TERM: "dumb", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  let output = "";
  child.stdout.on("data", (bytes: Buffer) => (output += bytes.toString()));
  child.stderr.on("data", (bytes: Buffer) => (output += bytes.toString()));
  const limit = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), timeLimit);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  clearTimeout(limit);
  return { code, output };
};

const timeLimit = 180_000;

/** Runs one prompt of a client at a target, and checks what the target received. */
const runOnce = async (
  { program, name }: { program: string; name: string },
  args: readonly string[],
  place: { env: Readonly<Record<string, string>>; cwd: string; home: string },
): Promise<RunChecks> => {
  received = [];
  const before = logLengths();
  const { code, output } = await runClient(program, args, place);
  const log = newEntries(before);
  const last = received.findLast(({ tools, turns }) => tools.length > 0 && turns.length > 1);
  const checks = checkRun({ log, isDone: output.includes(doneText), received: last && receivedBy(last) });
  if (options.verbose || checks.faults.length > 0)
    console.log(`  ${name} at ${target}: exit ${code}, ${log.length} requests; ${checks.faults.join("; ") || "ok"}`);
  if (options.verbose && checks.faults.length > 0) console.log(output.slice(-1500));
  return checks;
};

const logLengths = (): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(simulators.simulators).map(([id, { log }]) => [id, log.length]));
const newEntries = (before: Readonly<Record<string, number>>): readonly LogEntry[] =>
  Object.entries(simulators.simulators).flatMap(([id, { log }]) => log.slice(before[id]));

const checkClient = async (client: GatewayTestClient): Promise<void> => {
  const program = findProgram(client.bin, options.clients);
  if (program === undefined) {
    console.log(`${client.name} is not installed.`);
    return;
  }
  const cells = (results[client.name] ??= {});
  for (const [index, to] of targets.entries()) {
    const home = join(root, client.bin, String(index), "home");
    folder = join(root, client.bin, String(index), "project");
    mkdirSync(home, { recursive: true });
    cpSync(project, folder, { recursive: true });
    const command = client.prepare({ home, url: gateway.url, token, model: client.model });
    const place = { env: command.env, cwd: folder, home };
    const named = { program, name: client.name };
    target = to;
    const first = await runOnce(named, command.start(promptFor("mixed")), place);
    // The same conversation continues at another target.
    target = targets[(index + 1) % targets.length] ?? to;
    const second = await runOnce(named, command.resume(promptFor("more")), place);
    cells[to] = { ...first, switched: second.faults.length === 0, faults: [...first.faults, ...second.faults] };
    if (index === 0 && options.steps !== undefined) {
      target = to;
      const long = await runOnce(named, command.start(promptFor(`steps${Number(options.steps)}`)), place);
      console.log(
        `  ${client.name}: ${options.steps} steps: ${long.requests} requests, ${long.faults.join("; ") || "ok"}`,
      );
    }
    console.log(`${client.name} at ${to}: ${summaryOf(cells[to])}`);
    if (options.results !== undefined) writeFileSync(options.results, JSON.stringify(results));
  }
};

const summaryOf = (checks: RunChecks | undefined): string =>
  checks === undefined || checks.faults.length > 0 ? `FAULTS ${checks?.faults.join("; ")}` : "ok";

const results: Record<string, Record<string, RunChecks>> = options.results !== undefined && existsSync(options.results)
  ? (JSON.parse(readFileSync(options.results, "utf8")) as Record<string, Record<string, RunChecks>>)
  : {};
for (const client of clients) await checkClient(client);
await gateway.close();
await simulators.close();
rmSync(root, { recursive: true, force: true });
const rows: readonly ClientRow[] = testClients.flatMap(({ name }) => {
  const cells = results[name];
  return cells === undefined ? [] : [{ client: name, cells }];
});
const columns = Object.values(allTargets).filter((to) => rows.some(({ cells }) => to in cells));
const table = writeClientTable(rows, columns);
console.log(table);
if (options.write) {
  const file = new URL("../../docs/gateway.md", import.meta.url);
  const text = readFileSync(file, "utf8");
  writeFileSync(
    file,
    text.replace(
      /(<!-- clients -->\n)[^]*?(<!-- \/clients -->)/,
      (_whole, start: string, end: string) => `${start}\n${table}\n\n${end}`,
    ),
  );
}
process.exitCode = rows.some(({ cells }) => Object.values(cells).some(({ faults }) => faults.length > 0)) ? 1 : 0;
