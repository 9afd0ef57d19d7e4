import { expect, it } from "vitest";
import { toFetchHandler } from "../../src/gateway/fetch-handler.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { simulateProvider } from "../support/exchange.ts";

it("a client that has spent its own limit is refused until the next day (UTC), and the others go on", async () => {
  const { world } = simulateProvider("openai");
  let now = Date.UTC(2026, 10, 15, 23);
  const clients = {
    limited: { tokenHash: hashToken("token-of-limited"), spend: 0.000001 },
    other: { tokenHash: hashToken("token-of-other"), spend: 100 },
  };
  const gateway = toFetchHandler(
    openGateway({ world: { ...world, clock: { ...world.clock, now: () => now } }, config: () => ({ clients }) }),
  );
  const ask = (client: keyof typeof clients, stream = false): Promise<Response> =>
    gateway(
      new Request("http://gateway/v1/chat/completions", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer token-of-${client}` },
        body: JSON.stringify({ model: "openai/gpt-5.6", stream, messages: [{ role: "user", content: "x" }] }),
      }),
    );
  const streamed = await ask("limited", true);
  expect([streamed.status, await streamed.text()]).toEqual([200, expect.stringContaining("[DONE]")]);
  const refused = await ask("limited");
  expect([refused.status, refused.headers.get("retry-after"), await refused.text()]).toEqual([
    429,
    "3600",
    expect.stringContaining("$0.00 a day for the client limited"),
  ]);
  for (let request = 0; request < 3; request++) expect((await ask("other")).status).toBe(200);
  now += 3_600_000;
  expect([(await ask("limited")).status, (await ask("limited")).status]).toEqual([200, 429]);
});
