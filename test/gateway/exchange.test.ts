import { request as httpRequest } from "node:http";
import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import type { ExchangeRecord } from "../../src/wire/exchange.ts";
import type { FaultPlan } from "../../src/sim/faults/fault.ts";
import type { Script } from "../../src/sim/model/script.ts";
import { hashToken } from "../../src/http/request-guard.ts";
import { openGatewayStage, token, type GatewayStage, type GatewayStageOptions } from "./stage.ts";

let stage: GatewayStage;
const clients = { clients: { tester: { tokenHash: hashToken(token) } } };
afterEach(() => stage.close());

const open = async (options: GatewayStageOptions = {}): Promise<void> => {
  stage = await openGatewayStage(options);
};

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const tools = [
  { name: "look", description: "Looks.", input_schema: { type: "object", properties: { at: { type: "string" } } } },
];
const loop: Script = {
  rules: [
    {
      replies: [
        {
          think: "Two places.",
          say: "Looking.",
          call: [
            { tool: "look", input: { at: "a" } },
            { tool: "look", input: { at: "b" } },
          ],
        },
        { say: "Both seen." },
      ],
    },
  ],
};

const bodiesAt = (provider: string): readonly JsonObject[] =>
  stage.sims.simulators[provider]?.log.filter(({ status }) => status === 200).map(({ body }) => body as JsonObject) ??
  [];

type Block = { readonly type: string; readonly id?: string };

describe("an exchange through the gateway", () => {
  it.each([
    ["openai/gpt-5.6", /"encrypted_content":"[^"]{8,}"/],
    ["google/gemini-3.8-flash", /"thoughtSignature":"(?!skip_|context_)[\w+/=-]{12,}"/],
    ["deepseek/deepseek-v4-pro", /"reasoning_content":"Two places\."/],
    ["bedrock/us.anthropic.claude-fable-5-1-v1:0", /"reasoningText":\{"text":"Two places\.","signature":"[^"]{8,}"/],
    ["mistral/mistral-large-latest", /"tool_call_id"/],
  ] as const)("carries a tool loop with thinking of %s through an Anthropic client", async (model, seal) => {
    await open({ sim: { script: loop } });
    const ask = { model, max_tokens: 4000, thinking: { type: "enabled", budget_tokens: 1024 }, tools };
    const messages: unknown[] = [{ role: "user", content: "Look at both." }];
    const first = (await (await stage.post("/v1/messages", { ...ask, messages })).json()) as {
      content: readonly Block[];
      stop_reason: string;
      model: string;
    };
    expect([first.stop_reason, first.model]).toEqual(["tool_use", model]);
    const calls = first.content.filter(({ type }) => type === "tool_use");
    expect(calls).toHaveLength(2);
    messages.push(
      { role: "assistant", content: first.content },
      {
        role: "user",
        content: calls.map(({ id }) => ({ type: "tool_result", tool_use_id: id, content: `seen ${id}` })),
      },
    );
    const second = await stage.post("/v1/messages", { ...ask, messages });
    expect([second.status, ((await second.json()) as { content: unknown }).content]).toEqual([
      200,
      expect.arrayContaining([{ type: "text", text: "Both seen." }]),
    ]);
    // The simulators refuse a seal that is not their own: the one that came back was.
    const [before, after] = bodiesAt(model.split("/")[0] ?? "");
    expect(after).toBeDefined();
    const text = JSON.stringify(after);
    for (const { id } of calls) expect(text).toContain(`seen ${id}`);
    expect(text).toMatch(seal);
    expect(text).not.toContain("parley1/");
    expect(before).toBeDefined();
  });

  it("passes bytes through where client and target have the same API", async () => {
    await open({ config: { routes: [{ model: "sonnet", to: "anthropic/claude-sonnet-5" }] } });
    const text = `{ "max_tokens": 50,\n "messages": [{"role":"user","content":"h\\u0069"}], "model" : "sonnet" }`;
    const answer = await stage.post("/v1/messages", text);
    expect(answer.status).toBe(200);
    expect((await answer.json()) as unknown).toMatchObject({ type: "message", model: "claude-sonnet-5" });
    expect(bodiesAt("anthropic")).toEqual([JSON.parse(text.replace("sonnet", "claude-sonnet-5"))]);
  });

  it("keeps the prefix when an image arrives at a target with the client's API that takes none", async () => {
    await open();
    const model = "deepseek/deepseek-v4-pro";
    const first = { role: "user", content: [{ type: "text", text: "Look." }] };
    const image = { type: "image_url", image_url: { url: `data:image/png;base64,${onePixel}` } };
    const later = [
      { role: "assistant", content: "At what?" },
      { role: "user", content: [{ type: "text", text: "At this." }, image] },
    ];
    for (const messages of [[first], [first, ...later]])
      expect((await stage.post("/v1/chat/completions", { model, messages })).status).toBe(200);
    const [before, after] = bodiesAt("deepseek").map(({ messages, ...rest }) => ({ rest, messages }));
    expect(after?.rest).toEqual(before?.rest);
    expect([(after?.messages as readonly unknown[] | undefined)?.[0]]).toEqual(before?.messages);
  });

  it("passes a refusal on in the words of the client's API", async () => {
    const faults: FaultPlan = [{ fault: { type: "status", status: 429, headers: { "retry-after": "7" } } }];
    await open({ sim: { faults } });
    const answer = await stage.post("/v1/messages", {
      model: "openai/gpt-5.6",
      max_tokens: 9,
      messages: [{ role: "user", content: "x" }],
    });
    expect([answer.status, answer.headers.get("retry-after"), (await answer.json()) as unknown]).toEqual([
      429,
      "7",
      expect.objectContaining({ type: "error", error: expect.objectContaining({ type: "rate_limit_error" }) }),
    ]);
  });

  it("fails over to the next target of a pool before the first byte, and stays there", async () => {
    await open({
      // Nothing listens on the discard port.
      env: { PARLEY_OPENAI_BASE_URL: "http://127.0.0.1:9" },
      config: {
        routes: [{ model: "*", to: "both" }],
        pools: { both: ["openai/gpt-5.6", "google/gemini-3.8-flash"] },
      },
    });
    const ask = { model: "m", max_tokens: 99, messages: [{ role: "user", content: "x" }], stream: true };
    const targets: unknown[] = [];
    for (let turn = 0; turn < 2; turn++) {
      const answer = await stage.post("/v1/messages", ask);
      expect(await answer.text()).toContain("event: message_stop");
      targets.push(answer.headers.get("x-parley-target"));
    }
    expect(targets).toEqual(["google/gemini-3.8-flash", "google/gemini-3.8-flash"]);
  });

  it("refuses a request whose only tools run on another vendor's servers", async () => {
    await open();
    const answer = await stage.post("/v1/messages", {
      model: "mistral/mistral-large-latest",
      max_tokens: 9,
      messages: [{ role: "user", content: "Search." }],
      tools: [{ type: "web_search_20250305", name: "web_search" }],
    });
    expect([answer.status, (await answer.json()) as unknown]).toEqual([
      400,
      expect.objectContaining({ error: expect.objectContaining({ message: expect.stringContaining("web_search") }) }),
    ]);
  });

  it("stops at a spending limit, and records what every exchange cost", async () => {
    const records: ExchangeRecord[] = [];
    await open({ config: { ...clients, spend: 0.000001 }, gateway: { onExchange: (record) => records.push(record) } });
    const ask = { model: "openai/gpt-5.6", max_tokens: 99, messages: [{ role: "user", content: "x" }] };
    expect((await stage.post("/v1/messages", ask)).status).toBe(200);
    const refused = await stage.post("/v1/chat/completions", ask);
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining("$0.00 a day")]);
    expect(records).toMatchObject([
      {
        client: "tester",
        model: "openai/gpt-5.6",
        in: { api: "anthropic", body: ask },
        out: { provider: "openai", model: "gpt-5.6", body: { model: "gpt-5.6" } },
        usage: { input: expect.any(Number) },
        cost: expect.any(Number),
        status: 200,
      },
    ]);
  });

  it("cancels the request to the target when the client leaves", async () => {
    let pause = (): void => {};
    const paused = new Promise<void>((resolve) => (pause = resolve));
    let cancel = (): void => {};
    const cancelled = new Promise<void>((resolve) => (cancel = resolve));
    await open({
      sim: {
        faults: [{ fault: { type: "drip", ms: 60_000 } }],
        // The target waits in the middle of its response until its client leaves.
        sleep: (_, signal) =>
          new Promise((_resolve, reject) => {
            pause();
            signal?.addEventListener("abort", () => {
              cancel();
              reject(signal.reason);
            });
          }),
      },
    });
    const sent = httpRequest({
      port: stage.running.port,
      path: "/v1/messages",
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": token },
    });
    sent.on("error", () => undefined);
    sent.end(
      JSON.stringify({
        model: "openai/gpt-5.6",
        max_tokens: 9,
        stream: true,
        messages: [{ role: "user", content: "x" }],
      }),
    );
    await paused;
    sent.destroy();
    await cancelled;
  });
});
