/*
 * Sends the hard cases to this gateway and to others from npm, in front of the same strict simulators, and prints which of
 * them each gets right.
 *
 *     npx tsx scripts/gateway/hard-cases.ts [--router DIR] [--portkey DIR] [--node DIR] [--verbose]
 *
 * DIR is a folder in which `npm install @musistudio/claude-code-router` or `@portkey-ai/gateway` was run; the latter with
 * "overrides": {"@hono/node-server": "1.3.3", "hono": "4.9.7"}, as with newer ones every stream fails.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openGateway } from "../../src/gateway/gateway.ts";
import { serveGateway } from "../../src/gateway/serve.ts";
import { serve } from "../../src/sim/serve.ts";
import { createSimulator, type Simulator } from "../../src/sim/simulator.ts";
import { realWorld } from "../../src/world/real/world.ts";
import { everyKey } from "../../test/support/exchange.ts";
import { chatCases, messagesCases, type HardCase } from "./cases.ts";

const { values: options } = parseArgs({
  options: {
    router: { type: "string" },
    portkey: { type: "string" },
    node: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

/** A gateway under test: how a case is sent to it, for a target at this address. */
type TestedGateway = {
  readonly name: string;
  readonly start: (base: string, id: string) => Promise<RunningTested>;
};
type RunningTested = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
};

const home = mkdtempSync(join(tmpdir(), "parley-hard-cases-"));
const path = [options.node, dirname(process.execPath), "/usr/bin", "/bin"].filter(Boolean).join(":");

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });

const startProgram = async (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  port: number,
): Promise<ChildProcess> => {
  const child = spawn(options.node === undefined ? process.execPath : join(options.node, "node"), args, {
    env: { PATH: path, HOME: home, ...env },
    stdio: "ignore",
  });
  for (let attempt = 0; attempt < 150; attempt++) {
    const isUp = await fetch(`http://127.0.0.1:${port}/`).then(
      () => true,
      () => false,
    );
    if (isUp) return child;
    await sleep(200);
  }
  throw new Error(`Nothing listens on port ${port}.`);
};

const parley: TestedGateway = {
  name: "parley",
  start: async (base, id) => {
    const world = realWorld({ ...everyKey, [`PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`]: base });
    const to = id === "anthropic" ? "anthropic/claude-opus-5" : "openai-chat/gpt-4.1";
    const running = await serveGateway(openGateway({ world, config: () => ({ routes: [{ to }] }) }));
    return { url: running.url, headers: {}, close: () => running.close() };
  },
};

const router: TestedGateway = {
  name: "claude-code-router",
  start: async (base) => {
    const port = await freePort();
    mkdirSync(join(home, ".claude-code-router"), { recursive: true });
    writeFileSync(
      join(home, ".claude-code-router/config.json"),
      JSON.stringify({
        PORT: port,
        HOST: "127.0.0.1",
        LOG: false,
        NON_INTERACTIVE_MODE: true,
        Providers: [
          {
            name: "sim",
            api_base_url: `${base}/chat/completions`,
            api_key: everyKey["OPENAI_API_KEY"],
            models: ["gpt-4.1"],
          },
        ],
        Router: { default: "sim,gpt-4.1" },
      }),
    );
    const program = join(options.router ?? "", "node_modules/@musistudio/claude-code-router/dist/cli.js");
    const child = await startProgram([program, "start"], {}, port);
    return { url: `http://127.0.0.1:${port}`, headers: {}, close: async () => void child.kill("SIGKILL") };
  },
};

const portkey: TestedGateway = {
  name: "Portkey gateway",
  start: async (base) => {
    const port = await freePort();
    const program = join(options.portkey ?? "", "node_modules/@portkey-ai/gateway/build/start-server.js");
    const child = await startProgram([program, `--port=${port}`, "--headless"], {}, port);
    return {
      url: `http://127.0.0.1:${port}`,
      headers: {
        "x-portkey-provider": "anthropic",
        "x-portkey-custom-host": `${base}/v1`,
        authorization: `Bearer ${everyKey["ANTHROPIC_API_KEY"]}`,
      },
      close: async () => void child.kill("SIGKILL"),
    };
  },
};

/** Sends one case and returns what is wrong; "" if it holds. */
const trySending = async (
  testCase: HardCase,
  { running, route, simulator, model }: { running: RunningTested; route: string; simulator: Simulator; model: string },
): Promise<string> => {
  const before = simulator.log.length;
  const response = await fetch(`${running.url}${route}`, {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01", ...running.headers },
    body: JSON.stringify({ ...testCase.body, model }),
    signal: AbortSignal.timeout(60_000),
  });
  const answer = { status: response.status, headers: response.headers, text: await response.text() };
  const last = simulator.log.slice(before).at(-1);
  const sent = JSON.stringify(last?.body ?? "");
  const missing = (testCase.arrives ?? []).filter((text) => !sent.includes(text));
  const images = last?.verdict === "accepted" ? (last.usage?.inputBy.image ?? 0) : 0;
  const isErrorWanted = testCase.fault !== undefined || testCase.name.includes("too long");
  if (!isErrorWanted && last?.verdict !== "accepted")
    return `refused: ${last?.message ?? "nothing was sent"}`.slice(0, 150);
  if (missing.length > 0) return `lost: ${missing.join(", ")}`;
  if (testCase.hasImage === true && images === 0) return "the image is lost";
  if (testCase.answer?.(answer) === false) return `answer ${answer.status}: ${answer.text.slice(0, 150)}`;
  return "";
};

type Comparison = {
  readonly gateways: readonly TestedGateway[];
  readonly id: string;
  readonly route: string;
  readonly model: string;
};

const compare = async (title: string, cases: readonly HardCase[], comparison: Comparison): Promise<void> => {
  const { gateways } = comparison;
  const columns: (readonly string[])[] = [];
  for (const gateway of gateways) columns.push(await tryCases(gateway, cases, comparison));
  const row = (name: string, cells: readonly (string | number)[]): string => `| ${name} | ${cells.join(" | ")} |`;
  console.log(
    [
      "",
      row(
        title,
        gateways.map(({ name }) => name),
      ),
      `| --- |${gateways.map(() => " --- |").join("")}`,
      ...cases.map(({ name }, at) =>
        row(
          name,
          columns.map((column) => (column[at] === "" ? "✓" : "✗")),
        ),
      ),
      row(
        `right, of ${cases.length}`,
        columns.map((column) => column.filter((wrong) => wrong === "").length),
      ),
    ].join("\n"),
  );
};

/** Tries all cases at a gateway; cases with the same fault share a target. Returns what is wrong with each. */
const tryCases = async (
  gateway: TestedGateway,
  cases: readonly HardCase[],
  { id, route, model }: Comparison,
): Promise<readonly string[]> => {
  const results: string[] = cases.map(() => "");
  for (const fault of new Set(cases.map(({ fault }) => JSON.stringify(fault)))) {
    const some = cases.find((each) => JSON.stringify(each.fault) === fault)?.fault;
    const simulator = createSimulator({
      provider: id,
      ...(some === undefined ? {} : { faults: [{ fault: statusFault(some) }] }),
    });
    const server = await serve(simulator);
    const running = await gateway.start(server.url + simulator.provider.base, id);
    for (const [at, testCase] of cases.entries()) {
      if (JSON.stringify(testCase.fault) !== fault) continue;
      const wrong = await trySending(testCase, { running, route, simulator, model }).catch(String);
      results[at] = wrong;
      if (wrong !== "" && options.verbose) console.log(`  ${gateway.name}, ${testCase.name}: ${wrong}`);
    }
    await running.close();
    await server.close();
  }
  return results;
};

const statusFault = ({ status, retryAfter }: NonNullable<HardCase["fault"]>) =>
  ({
    type: "status",
    status,
    ...(retryAfter === undefined ? {} : { headers: { "retry-after": String(retryAfter) } }),
  }) as const;

await compare("Messages in front of Chat Completions", messagesCases, {
  gateways: [parley, ...(options.router === undefined ? [] : [router])],
  id: "openai-chat",
  route: "/v1/messages",
  model: "gpt-4.1",
});
await compare("Chat Completions in front of Messages", chatCases, {
  gateways: [parley, ...(options.portkey === undefined ? [] : [portkey])],
  id: "anthropic",
  route: "/v1/chat/completions",
  model: "claude-opus-5",
});
rmSync(home, { recursive: true, force: true });
