import { describe, expect, it } from "vitest";
import { createGateway } from "../../src/gateway/create-gateway.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { simulateProvider } from "../support/exchange.ts";
import { perTier } from "../support/tier.ts";
import { openGatewayStage } from "./stage.ts";

const streams = perTier({ quick: 64, all: 10_000 });
const atOnce = 32;

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
    const stage = await openGatewayStage({
      sim: { logLimit: 10 },
      gateway: { limits: { requests: atOnce } },
    });
    try {
      const send = async (number: number): Promise<boolean> => {
        const answer = await stage.post("/v1/messages", {
          model: "openai/gpt-5.6",
          max_tokens: 100,
          stream: true,
          messages: [{ role: "user", content: `Number ${number}` }],
        });
        // Every tenth client leaves in the middle.
        if (number % 10 === 9) {
          await answer.body?.cancel();
          return true;
        }
        return (await answer.text()).includes("event: message_stop");
      };
      let heapThen = 0;
      for (let done = 0; done < streams; done += atOnce) {
        const batch = Array.from({ length: Math.min(atOnce, streams - done) }, (_, index) => send(done + index));
        const ended = await Promise.all(batch);
        // A client that left may hold its place for a moment, so a few may be refused as busy.
        expect(ended.filter((isWhole) => !isWhole).length).toBeLessThanOrEqual(4);
        if (done >= streams / 2 && heapThen === 0) heapThen = process.memoryUsage().heapUsed;
      }
      expect(process.memoryUsage().heapUsed - heapThen).toBeLessThan(150 * 2 ** 20);
      // All places are free again.
      const all = await Promise.all(Array.from({ length: atOnce }, (_, index) => send(index * 10)));
      expect(all.every((isWhole) => isWhole)).toBe(true);
    } finally {
      await stage.close();
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
