import { expect, it } from "vitest";
import { toFetchHandler } from "../../src/gateway/fetch-handler.ts";
import { openGateway } from "../../src/gateway/gateway.ts";
import type { GatewayConfig } from "../../src/gateway/routes/config.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { simulateProvider } from "../support/exchange.ts";

const chatRequest = (model: string, { token = "", stream = false } = {}): Request =>
  new Request("http://gateway/v1/chat/completions", {
    method: "POST",
    headers: { "content-type": "application/json", ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "x" }] }),
  });

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
    gateway(chatRequest("openai/gpt-5.6", { token: `token-of-${client}`, stream }));
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

const messagesRequest = (model: string): Request =>
  new Request("http://gateway/v1/messages", {
    method: "POST",
    headers: { "content-type": "application/json", "anthropic-version": "2023-06-01" },
    body: JSON.stringify({ model, max_tokens: 100, messages: [{ role: "user", content: "x" }] }),
  });

it.each([
  { how: "translated", refused: 429, request: chatRequest },
  { how: "passed through", refused: 402, request: messagesRequest },
])(
  "a price in the settings counts for the spending limit, and a model without one is named once ($how)",
  async (row) => {
    const { world } = simulateProvider("anthropic");
    const unpriced: string[] = [];
    const name = "anthropic/claude-fable-5-2";
    let models: NonNullable<GatewayConfig["models"]> = {};
    const gateway = toFetchHandler(
      openGateway({
        world,
        config: () => ({ spend: 0.000001, models }),
        lint: () => [],
        onUnpriced: (model) => unpriced.push(model),
      }),
    );
    const ask = async (): Promise<number> => {
      const response = await gateway(row.request(name));
      await response.text();
      return response.status;
    };
    expect([await ask(), await ask(), await ask()]).toEqual([200, 200, 200]);
    expect(unpriced).toEqual([name]);
    models = { [name]: { price: { input: 1, output: 2 } } };
    expect([await ask(), await ask()]).toEqual([200, row.refused]);
  },
);

it("a list of models has the sizes of the settings", async () => {
  const { world } = simulateProvider("openai");
  const models = { "openai/gpt-unheard-of": { context: 5000, maxOutput: 700 } };
  const routes = [{ model: "openai/gpt-unheard-of", to: "openai/gpt-unheard-of" }];
  const gateway = toFetchHandler(openGateway({ world, config: () => ({ models, routes }) }));
  const listed = await gateway(new Request("http://gateway/v1/models"));
  const { data } = (await listed.json()) as { data: { id: string }[] };
  expect(data.find(({ id }) => id === "openai/gpt-unheard-of")).toMatchObject({ context_length: 5000 });
});
