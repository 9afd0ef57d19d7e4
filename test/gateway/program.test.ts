import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { bin, ensureBuilt } from "../built.ts";
import { everyKey } from "../support/exchange.ts";
import { environmentFor, serveSimulators, type ServedSimulators } from "../support/serve-simulators.ts";

/* The packaged program: its settings are read again when they change; the log and the seals are files of their owner. */

let home: string;
let sims: ServedSimulators;
let child: ChildProcess;
let url: string;
let errors = "";
/** The bytes of a log after which it is moved aside. */
const fullLog = 64 * 2 ** 20;
const settings = (): string => join(home, "settings.json");
const routeTo = (to: string): void => writeFileSync(settings(), JSON.stringify({ gateway: { routes: [{ to }] } }));

beforeAll(async () => {
  ensureBuilt();
  home = mkdtempSync(join(tmpdir(), "parley-gateway-"));
  sims = await serveSimulators({
    script: { rules: [{ replies: [{ think: "Hm.", call: [{ tool: "look", input: {} }] }, { say: "Seen." }] }] },
  });
  routeTo("google/gemini-3.8-flash");
  writeFileSync(join(home, "log.jsonl"), "", { mode: 0o600 });
  truncateSync(join(home, "log.jsonl"), fullLog);
  const files = ["--log", join(home, "log.jsonl"), "--seals", join(home, "seals.jsonl")];
  child = spawn(process.execPath, [bin, "gateway", "--port", "0", "--token", "the-token", ...files], {
    cwd: home,
    env: { PATH: "/bin", HOME: home, PARLEY_HOME: home, ...everyKey, ...environmentFor(sims.bases) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stderr?.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  url = await new Promise((resolve) => child.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString().trim())));
});
afterAll(async () => {
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGINT");
  expect(await exited).toBe(0);
  await sims.close();
  rmSync(home, { recursive: true, force: true });
});

const ask = (): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer the-token" },
    body: JSON.stringify({
      model: "any",
      messages: [{ role: "user", content: "Look." }],
      tools: [{ type: "function", function: { name: "look", parameters: { type: "object", properties: {} } } }],
    }),
  });

const target = async (): Promise<string | null> => {
  const response = await ask();
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("look")]);
  return response.headers.get("x-parley-target");
};

/** The settings are looked at every half second. */
const soon = { timeout: 60_000, interval: 200 };

it("uses changed routes without a restart, and keeps the last ones while settings cannot be read", async () => {
  expect(await target()).toBe("google/gemini-3.8-flash");
  routeTo("anthropic/claude-opus-5");
  await vi.waitFor(async () => expect(await target()).toBe("anthropic/claude-opus-5"), soon);
  writeFileSync(settings(), "{ no settings");
  await vi.waitFor(() => expect(errors).toContain("The settings are not used"), soon);
  expect(await target()).toBe("anthropic/claude-opus-5");
  routeTo("openai/gpt-5.6");
  await vi.waitFor(async () => expect(await target()).toBe("openai/gpt-5.6"), soon);
}, 120_000);

it("writes the log and the seals for its owner alone, without keys and tokens", async () => {
  await target();
  for (const file of ["log.jsonl", "seals.jsonl"]) {
    const text = readFileSync(join(home, file), "utf8");
    expect([statSync(join(home, file)).mode & 0o777, text.endsWith("\n")]).toEqual([0o600, true]);
    for (const secret of ["the-token", everyKey["OPENAI_API_KEY"] ?? ""]) expect(text).not.toContain(secret);
  }
});

it("moves a full log aside and keeps two files at most", async () => {
  await target();
  const logs = readdirSync(home).filter((name) => name.startsWith("log.jsonl"));
  expect(logs.toSorted()).toEqual(["log.jsonl", "log.jsonl.1"]);
  const [now, before] = ["log.jsonl", "log.jsonl.1"].map((name) => statSync(join(home, name)));
  expect([before?.size, (now?.mode ?? 0) & 0o777, (before?.mode ?? 0) & 0o777]).toEqual([fullLog, 0o600, 0o600]);
  expect(now?.size).toBeLessThan(2 ** 20);
});
