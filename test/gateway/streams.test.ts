import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/create-gateway.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { bundleScript } from "../support/bundle-script.ts";
import { simulateProvider } from "../support/exchange.ts";
import { perTier } from "../support/tier.ts";
import type { SoakReport } from "./soak.ts";

const streams = perTier({ quick: 16, all: 10_000 });

describe("streams through the gateway", () => {
  it("are read from the target only as fast as the client reads", async () => {
    const { world, traffic } = simulateProvider("openai", {
      faults: [{ fault: { type: "tiny-events", count: 5000 } }],
    });
    const gateway = openGateway({ world, config: () => ({}) });
    const gone = new AbortController();
    const answer = await gateway.handle({
      method: "POST",
      path: "/v1/messages",
      query: new URLSearchParams(),
      headers: {},
      body: async () =>
        Buffer.from(
          JSON.stringify({
            model: "openai/gpt-5.6",
            max_tokens: 90_000,
            stream: true,
            messages: [{ role: "user", content: "Count." }],
          }),
        ),
      signal: gone.signal,
    });
    if (typeof answer.body === "string" || answer.body instanceof Uint8Array) throw new Error("no stream");
    for (let chunk = 0; chunk < 20; chunk++) await answer.body.chunks.next();
    // The client reads no more, and so does the gateway.
    await new Promise(setImmediate);
    expect(traffic.chunks).toBeLessThan(60);
    await answer.body.chunks.return();
    expect(traffic.chunks).toBeLessThan(60);
  });

  it(`leave nothing behind, after ${streams} of them`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-soak-"));
    try {
      const script = bundleScript(fileURLToPath(new URL("soak.ts", import.meta.url)), folder);
      const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, String(streams)]);
      const { half, end, counts, last } = JSON.parse(stdout) as SoakReport;
      // A client that left may hold its place for a moment, so a few may be refused as busy.
      expect(counts.broken).toBe(0);
      expect(counts.busy).toBeLessThanOrEqual(streams / 100);
      expect(end - half).toBeLessThan(3 * 2 ** 20);
      expect(last).toBe(32);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe("createGateway", () => {
  it("is a fetch handler: it answers, streams and refuses", async () => {
    const { world } = simulateProvider("google");
    const gateway = createGateway({
      world,
      clients: { app: { tokenHash: hashToken("secret") } },
      routes: [{ model: "small", to: "google/gemini-3.8-flash" }],
    });
    const post = (body: object, key = "secret"): Promise<Response> =>
      gateway(
        new Request("http://gateway/v1/chat/completions", {
          method: "POST",
          headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
          body: JSON.stringify({ model: "small", messages: [{ role: "user", content: "hi" }], ...body }),
        }),
      );
    expect((await post({}, "wrong")).status).toBe(401);
    expect(await (await post({})).json()).toMatchObject({
      object: "chat.completion",
      model: "small",
      choices: [{ message: { content: 'You said: "hi".' } }],
    });
    expect(await (await post({ stream: true })).text()).toMatch(/data: \[DONE\]\n\n$/);
    const listed = await gateway(new Request("http://gateway/v1/models", { headers: { "x-api-key": "secret" } }));
    expect(await listed.text()).toContain('"google/gemini-3.8-flash"');
  });

  it("has room again after a reader left before it read anything", async () => {
    const { world } = simulateProvider("google");
    const gateway = createGateway({ world, limits: { requests: 1 } });
    const ask = (): Promise<Response> =>
      gateway(
        new Request("http://gateway/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({
            model: "google/gemini-3.8-flash",
            stream: true,
            messages: [{ role: "user", content: "hi" }],
          }),
        }),
      );
    const first = await ask();
    expect((await ask()).status).toBe(429);
    await first.body?.cancel();
    expect((await ask()).status).toBe(200);
  });
});
