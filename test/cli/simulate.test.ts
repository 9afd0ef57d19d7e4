import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { listSimulatable } from "../../src/cli/requests/simulated-providers.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { ensureBuilt } from "../built.ts";
import { everyKey } from "../support/exchange.ts";
import { emptyHome, start, type Started } from "../support/started.ts";

const home = emptyHome();
const begun: Started[] = [];
const simulate = async (...args: readonly string[]): Promise<Started & { readonly url: string }> => {
  const started = start(["simulate", ...args], { home: home.path });
  begun.push(started);
  return { ...started, url: await started.firstLine };
};

const ask = (url: string, content: string): Promise<Response> =>
  fetch(`${url}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": "any", "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({ model: "claude-sonnet-5", max_tokens: 100, messages: [{ role: "user", content }] }),
  });

beforeAll(ensureBuilt);

afterAll(async () => {
  for (const started of begun) started.interrupt();
  await Promise.all(begun.map(({ ended }) => ended));
  home.remove();
});

describe("parley simulate", () => {
  it("responds as the API would, logs every verdict, and exits with 0", async () => {
    const script: Script = { rules: [{ prompt: "Oslo", replies: [{ say: "Rain." }] }] };
    writeFileSync(join(home.path, "script.json"), JSON.stringify(script));
    const running = await simulate("anthropic", "--script", "script.json", "--log", "log.jsonl");
    expect(running.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);

    expect(await (await ask(running.url, "Weather in Oslo?")).json()).toMatchObject({
      content: [{ type: "text", text: "Rain." }],
    });
    const refused = await ask(running.url, "");
    expect(refused.status).toBe(400);

    running.interrupt();
    const { code, out, err } = await running.ended;
    expect({ code, out }).toEqual({ code: 0, out: `${running.url}\n` });
    expect(err).toContain(`  PARLEY_ANTHROPIC_BASE_URL=${running.url}\n`);
    expect(err).toMatch(/^1 {2}POST \/v1\/messages {2}200 {2}in \d+ \(cached 0\) {2}out \d+$/m);
    expect(err).toMatch(/^2 {2}POST \/v1\/messages {2}400 {2}anthropic\/\S+ {2}.+$/m);
    const log = readFileSync(join(home.path, "log.jsonl"), "utf8").trimEnd().split("\n");
    expect(log.map((line) => (JSON.parse(line) as { verdict: string }).verdict)).toEqual(["accepted", "refused"]);
  });

  it("simulates all providers at once, and prints the variables to set", async () => {
    const running = await simulate("all");
    running.firstLine.catch(() => undefined);
    const doctor = start(["doctor", "--json"], {
      home: home.path,
      env: { ...everyKey, ...(await variablesOf(running)) },
    });
    const { code, out } = await doctor.ended;
    const { providers: found } = JSON.parse(out) as {
      providers: readonly { id: string; state: string; models?: number }[];
    };
    const answering = found.filter(({ state }) => state === "ok");
    expect(answering.map(({ id }) => id)).toEqual(
      providers.map(({ id }) => id).filter((id) => listSimulatable().includes(id)),
    );
    expect(answering.filter(({ models }) => models === undefined).map(({ id }) => id)).toEqual([
      "code-assist",
      "cohere",
    ]);
    expect(code).toBe(0);
  });

  it("fails if its port is in use", async () => {
    const { url } = await simulate("openai");
    const port = new URL(url).port;
    const { code, out, err } = await start(["simulate", "openai", "--port", port], { home: home.path }).ended;
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toMatch(/^parley: Cannot listen: .*EADDRINUSE/);
  });
});

/** The variables a simulator prints, once it has printed them all. */
const variablesOf = async ({ said }: Started): Promise<Readonly<Record<string, string>>> => {
  const text = await said(/PARLEY_LOCAL_BASE_URL=.*\n/);
  return Object.fromEntries([...text.matchAll(/^ {2}(PARLEY_\w+)=(\S+)$/gm)].map(([, name, url]) => [name!, url!]));
};
