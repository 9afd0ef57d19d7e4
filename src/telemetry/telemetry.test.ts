import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import { done } from "../conversation/builders.ts";
import { realWorld } from "../world/real/world.ts";
import {
  call,
  claude,
  completed,
  executing,
  finished,
  message,
  overloaded,
  request,
  requested,
  usage,
  user,
} from "./events.cases.ts";
import { createManualClock, openTelemetryFixture, startTime, type TelemetryFixture } from "./fixture.cases.ts";

const asked = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "anthropic",
  "gen_ai.request.model": "claude-sonnet-5",
  "server.address": "api.anthropic.com",
  "server.port": 443,
};
const list = call("list_directory", { path: "secret-plans" });

describe("a turn", () => {
  it("is a trace: the turn, its requests and its calls, by the GenAI conventions", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    play(user("List it."), 10, request(1), 1500, message("", "Hm."), 5, usage(1000, 50, "claude-sonnet-5-20260301"));
    play(requested(list), 30, executing(list), 200, completed(list), request(2), 500, message("One file."));
    play(usage(1100, 7), finished);
    await telemetry.close();
    const [first, tool, second, turn] = collector.spans();
    const ids = [first, tool, second, turn].map((span) => span?.id);
    expect(new Set(ids).size).toBe(4);
    const within = { trace: turn?.trace, parent: turn?.id, failed: false };
    expect(collector.spans()).toEqual([
      {
        ...within,
        id: ids[0],
        name: "chat claude-sonnet-5",
        kind: 3,
        ms: [startTime + 10, startTime + 1510],
        attributes: {
          ...asked,
          "gen_ai.conversation.id": "s1",
          "gen_ai.response.model": "claude-sonnet-5-20260301",
          "gen_ai.response.finish_reasons": ["tool_calls"],
          "gen_ai.usage.input_tokens": 1000,
          "gen_ai.usage.output_tokens": 50,
          "gen_ai.usage.cache_read.input_tokens": 600,
          "gen_ai.usage.cache_creation.input_tokens": 100,
          "gen_ai.usage.reasoning.output_tokens": 20,
        },
      },
      {
        ...within,
        id: ids[1],
        name: "execute_tool list_directory",
        kind: 1,
        ms: [startTime + 1545, startTime + 1745],
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.tool.name": "list_directory",
          "gen_ai.tool.call.id": "hist_tool_1",
          "gen_ai.tool.type": "function",
          "gen_ai.conversation.id": "s1",
        },
      },
      {
        ...within,
        id: ids[2],
        name: "chat claude-sonnet-5",
        kind: 3,
        ms: [startTime + 1745, startTime + 2245],
        attributes: {
          ...asked,
          "gen_ai.conversation.id": "s1",
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.usage.input_tokens": 1100,
          "gen_ai.usage.output_tokens": 7,
          "gen_ai.usage.cache_read.input_tokens": 600,
          "gen_ai.usage.cache_creation.input_tokens": 100,
          "gen_ai.usage.reasoning.output_tokens": 20,
        },
      },
      {
        trace: turn?.trace,
        parent: undefined,
        id: ids[3],
        name: "invoke_agent parley",
        kind: 1,
        ms: [startTime, startTime + 2245],
        failed: false,
        attributes: {
          "gen_ai.operation.name": "invoke_agent",
          "gen_ai.agent.name": "parley",
          "gen_ai.conversation.id": "s1",
          "gen_ai.provider.name": "anthropic",
          "gen_ai.request.model": "claude-sonnet-5",
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.usage.input_tokens": 2100,
          "gen_ai.usage.output_tokens": 57,
        },
      },
    ]);
  });

  it("is exported as log records with token counts, linked to the spans", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    play(user("List it."), request(1), 1500, message(""), usage(1000, 50), requested(list), executing(list), 200);
    const metadata = { ai_added_lines: 1, ai_removed_lines: 2, user_added_lines: 3, user_removed_lines: 4 };
    play(completed(list, { metadata }), request(2), 40.4);
    play({ type: "retrying", failure: overloaded, delay: 100, discarded: false }, 100, request(2, { attempt: 2 }), 7);
    play(message("One file."), finished);
    await telemetry.close();
    const [first, tool, failed, second] = collector.spans().map(({ id }) => id);
    const common = { "gen_ai.conversation.id": "s1", prompt_id: "s1/1" };
    const log = (name: string, ms: number, span: string | undefined, body: string, attributes: object): object => ({
      name: `parley.${name}`,
      ms: startTime + ms,
      span,
      severity: name === "api_error" ? "ERROR" : "INFO",
      body,
      attributes: { ...common, ...attributes },
    });
    const asking = { model: claude, attempt: 1, request_bytes: 100 };
    expect(collector.logs()).toEqual([
      log("api_request", 0, first, `request to ${claude}`, asking),
      log("api_response", 1500, first, `response from ${claude}`, {
        model: claude,
        attempt: 1,
        duration_ms: 1500,
        finish_reason: "tool_calls",
        input_token_count: 1000,
        output_token_count: 50,
        cached_content_token_count: 600,
        thoughts_token_count: 20,
        total_token_count: 1050,
      }),
      log("tool_call", 1700, tool, "list_directory: complete", {
        function_name: "list_directory",
        duration_ms: 200,
        success: true,
        decision: "auto_accept",
        tool_type: "native",
        "metadata.ai_added_lines": 1,
        "metadata.ai_removed_lines": 2,
        "metadata.user_added_lines": 3,
        "metadata.user_removed_lines": 4,
      }),
      log("api_request", 1700, failed, `request to ${claude}`, asking),
      log("api_error", 1740.4, failed, `request to ${claude} failed: overloaded`, {
        model: claude,
        attempt: 1,
        duration_ms: 40,
        error_type: "overloaded",
      }),
      log("api_request", 1840.4, second, `request to ${claude}`, { ...asking, attempt: 2 }),
      log("api_response", 1847.4, second, `response from ${claude}`, {
        model: claude,
        attempt: 2,
        duration_ms: 7,
        finish_reason: "stop",
      }),
    ]);
  });

  it("is measured: tokens by type, and seconds, with errors separate", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    play(user("Go."), request(1), 1500, message("a"), usage(1000, 50, "m2"), finished);
    play(user("Go."), request(2), 3000, message("b"), usage(3000, 5, "m2"), finished);
    play(user("Go."), request(3), 20, { type: "cancelled" });
    await telemetry.close();
    const answered = { ...asked, "gen_ai.response.model": "m2" };
    expect(collector.metrics()).toEqual([
      {
        name: "gen_ai.client.token.usage",
        unit: "{token}",
        points: [
          {
            count: 2,
            sum: 4000,
            filled: { 1024: 1, 4096: 1 },
            attributes: { ...answered, "gen_ai.token.type": "input" },
          },
          { count: 2, sum: 55, filled: { 16: 1, 64: 1 }, attributes: { ...answered, "gen_ai.token.type": "output" } },
        ],
      },
      {
        name: "gen_ai.client.operation.duration",
        unit: "s",
        points: [
          { count: 2, sum: 4.5, filled: { 2.56: 1, 5.12: 1 }, attributes: answered },
          { count: 1, sum: 0.02, filled: { 0.02: 1 }, attributes: { ...asked, "error.type": "cancelled" } },
        ],
      },
    ]);
  });

  it("of a subagent is part of its parent's trace", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    const said = (event: AgentEvent): AgentEvent => ({ type: "agent", agent: "task-1", event });
    play(user("Go."), request(1), message(""), requested(list), executing(list), said(user("Look.")), said(request(1)));
    play(
      5,
      said(message("Seen.")),
      said(usage(10, 2)),
      said(finished),
      completed(list),
      request(2),
      message("x"),
      finished,
    );
    await telemetry.close();
    const spans = collector.spans();
    const turn = spans.find(({ name }) => name === "invoke_agent parley");
    const working = spans.find(({ name }) => name === "invoke_agent task-1");
    expect(spans.map(({ name, parent, trace }) => [name, parent, trace === turn?.trace])).toEqual([
      ["chat claude-sonnet-5", turn?.id, true],
      ["chat claude-sonnet-5", working?.id, true],
      ["invoke_agent task-1", turn?.id, true],
      ["execute_tool list_directory", turn?.id, true],
      ["chat claude-sonnet-5", turn?.id, true],
      ["invoke_agent parley", undefined, true],
    ]);
    expect(collector.logs().map(({ attributes }) => attributes["prompt_id"])).toContain("s1/1/task-1");
    expect(working?.attributes["gen_ai.usage.input_tokens"]).toBe(10);
  });

  it("continues with a queued message: no response is lost", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    play(user("Go."), request(1), message("Well."), usage(10, 1), user("Faster."), request(2), message("x"), finished);
    await telemetry.close();
    expect(
      collector.spans().map(({ name, attributes }) => [name, attributes["gen_ai.response.finish_reasons"]]),
    ).toEqual([
      ["chat claude-sonnet-5", ["stop"]],
      ["chat claude-sonnet-5", ["stop"]],
      ["invoke_agent parley", ["stop"]],
    ]);
  });

  it("has the prompt id of its requests", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    play(user("Go."), request(1, { promptId: "s1#7" }), message("x"), finished);
    await telemetry.close();
    expect(collector.logs().map(({ attributes }) => attributes["prompt_id"])).toEqual(["s1#7", "s1#7"]);
  });

  it("is a separate trace, and numbered", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture();
    for (const words of ["One.", "Two."]) play(user(words), request(1), message("x"), finished);
    await telemetry.close();
    const turns = collector.spans().filter(({ name }) => name === "invoke_agent parley");
    expect(new Set(turns.map(({ trace }) => trace)).size).toBe(2);
    expect(collector.logs().map(({ attributes }) => attributes["prompt_id"])).toEqual(["s1/1", "s1/1", "s1/2", "s1/2"]);
  });
});

describe("an error", () => {
  const errorsOf = ({ collector }: TelemetryFixture): readonly unknown[] =>
    collector.spans().map(({ name, failed, attributes }) => [name, failed, attributes["error.type"]]);
  const refused = {
    kind: "refused",
    provider: "anthropic",
    label: "Anthropic",
    status: 400,
    rules: [],
    said: "Bad.",
  } as const;

  it("of a provider ends the request and the turn with its kind", async () => {
    const stage = await openTelemetryFixture();
    stage.play(user("Go."), request(1), 5);
    stage.play({ type: "failed", failure: { kind: "provider", failure: refused, message: "..." } });
    await stage.telemetry.close();
    expect(errorsOf(stage)).toEqual([
      ["chat claude-sonnet-5", true, "refused"],
      ["invoke_agent parley", true, "refused"],
    ]);
    expect(stage.collector.logs().at(-1)?.attributes).toEqual({
      "gen_ai.conversation.id": "s1",
      prompt_id: "s1/1",
      model: claude,
      attempt: 1,
      duration_ms: 5,
      error_type: "refused",
      status_code: 400,
    });
  });

  it("has the HTTP status, if there is one", async () => {
    const stage = await openTelemetryFixture();
    const limited = { kind: "rate-limited", provider: "anthropic", label: "Anthropic", status: 429 } as const;
    stage.play(user("Go."), request(1), 5);
    stage.play({ type: "retrying", failure: limited, delay: 1, discarded: false });
    await stage.telemetry.close();
    const [error] = stage.collector.logs().filter(({ attributes }) => attributes["error_type"] === "rate-limited");
    expect(error?.attributes["status_code"]).toBe(429);
  });

  it("counts tokens of provider-side tools", async () => {
    const stage = await openTelemetryFixture();
    const used = { input: 120, output: 4, cachedRead: 0, cachedWrite: 0, reasoning: 0, toolUse: 20 };
    const spent = { requests: 1, input: 120, cachedRead: 0, output: 4, cost: 0, unpriced: 0 };
    stage.play(user("Go."), request(1), 5, { type: "message", text: "Ok.", thought: "", media: [] });
    stage.play({ type: "usage", model: claude, usage: used, spent }, { type: "finished", reason: "stop", text: "Ok." });
    await stage.telemetry.close();
    expect(stage.collector.logs().map(({ attributes }) => attributes["tool_token_count"])).toContain(20);
  });

  it.each<[string, readonly AgentEvent[], string]>([
    [
      "another model takes over",
      [{ type: "model-changed", from: claude, to: "openai/x", reason: { type: "failover", failure: overloaded } }],
      "overloaded",
    ],
    [
      "room must be made first",
      [{ type: "compacted", compaction: { by: "summary", before: 2, after: 1 } }],
      "context-too-long",
    ],
    ["it is written anew", [{ type: "notice", text: "..." }, request(1, { attempt: 2 })], "refused"],
    ["the answer is of no use", [request(2)], "unusable-answer"],
  ])("of a request is exported if %s", async (_, events, error) => {
    const stage = await openTelemetryFixture();
    stage.play(user("Go."), request(1), ...events, request(3), message("x"), finished);
    await stage.telemetry.close();
    expect(errorsOf(stage)[0]).toEqual(["chat claude-sonnet-5", true, error]);
    expect(errorsOf(stage).slice(-2)).toEqual([
      ["chat claude-sonnet-5", false, undefined],
      ["invoke_agent parley", false, undefined],
    ]);
  });

  it("of the last response is exported if the turn ends without one", async () => {
    const stage = await openTelemetryFixture();
    stage.play(user("Go."), request(1), { type: "finished", reason: "length", text: "" });
    await stage.telemetry.close();
    expect(errorsOf(stage)).toEqual([
      ["chat claude-sonnet-5", true, "unusable-answer"],
      ["invoke_agent parley", false, undefined],
    ]);
  });

  it("of a tool call is exported by its kind", async () => {
    const stage = await openTelemetryFixture();
    stage.play(user("Go."), request(1), message(""), requested(list));
    const failed = {
      success: false,
      decision: "reject",
      error: "No secret-plans here.",
      error_type: "file_not_found",
    } as const;
    stage.play(completed(list, failed, { status: "error", content: [] }), finished);
    await stage.telemetry.close();
    expect(errorsOf(stage)[1]).toEqual(["execute_tool list_directory", true, "file_not_found"]);
    expect(stage.collector.logs().at(-1)?.attributes).toMatchObject({
      success: false,
      decision: "reject",
      error_type: "file_not_found",
    });
  });

  it("of the program: open spans end as cancelled", async () => {
    const stage = await openTelemetryFixture();
    stage.play(user("Go."), request(1), { type: "agent", agent: "task-1", event: user("Look.") });
    await stage.telemetry.close();
    expect(errorsOf(stage)).toEqual([
      ["chat claude-sonnet-5", true, "cancelled"],
      ["invoke_agent task-1", true, "cancelled"],
      ["invoke_agent parley", true, "cancelled"],
    ]);
  });
});

describe("message content", () => {
  const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh";
  const plans = call("write_file", { path: "secret-plans", content: `the key is ${key}` });
  const tell = ({ play }: TelemetryFixture): void => {
    play(
      user("Hide the secret-plans."),
      request(1),
      message("The secret-plans, then.", "secret-plans?"),
      requested(plans),
    );
    const failed = { success: false, error: "secret-plans: no", error_type: "file_not_found" } as const;
    play(completed(plans, failed, done(`secret-plans are ${key} and hunter2hunter2`)), request(2));
    const said = "secret-plans refused";
    play(
      { type: "retrying", failure: { ...overloaded, detail: said }, delay: 1, discarded: false },
      request(3),
      message("secret-plans"),
    );
    play({ type: "finished", reason: "stop", text: "secret-plans hidden" });
  };

  it("is not exported by default: no text, argument, result or error message", async () => {
    const stage = await openTelemetryFixture();
    tell(stage);
    await stage.telemetry.close();
    expect(stage.collector.requests.map(({ path }) => path).toSorted()).toEqual([
      "/v1/logs",
      "/v1/metrics",
      "/v1/traces",
    ]);
    expect(stage.collector.requests.map(({ body }) => body).join()).not.toContain("secret-plans");
  });

  it("is exported with logPrompts, without secrets", async () => {
    const { clock, ...stage } = await openTelemetryFixture({ logPrompts: true });
    tell({ clock, ...stage });
    await stage.telemetry.close();
    const wanted = Object.fromEntries(
      stage.collector.spans().map(({ name, attributes }) => [
        name,
        Object.fromEntries(
          Object.entries(attributes)
            .filter(([field]) => /messages$|tool\.call\.(arguments|result)/.test(field))
            .map(([field, text]) => [field, field.endsWith("messages") ? (JSON.parse(String(text)) as unknown) : text]),
        ),
      ]),
    );
    expect(wanted["invoke_agent parley"]).toEqual({
      "gen_ai.input.messages": [{ role: "user", parts: [{ type: "text", content: "Hide the secret-plans." }] }],
      "gen_ai.output.messages": [
        { role: "assistant", parts: [{ type: "text", content: "secret-plans hidden" }], finish_reason: "stop" },
      ],
    });
    expect(wanted["execute_tool write_file"]).toEqual({
      "gen_ai.tool.call.arguments": '{"path":"secret-plans","content":"the key is [secret]"}',
      "gen_ai.tool.call.result": "secret-plans are [secret] and hunter2hunter2",
    });
    const [first] = stage.collector.spans();
    expect(JSON.parse(String(first?.attributes["gen_ai.output.messages"]))).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "reasoning", content: "secret-plans?" },
          { type: "text", content: "The secret-plans, then." },
          {
            type: "tool_call",
            id: "hist_tool_1",
            name: "write_file",
            arguments: '{"path":"secret-plans","content":"the key is [secret]"}',
          },
        ],
        finish_reason: "tool_calls",
      },
    ]);
    const last = stage.collector.spans().findLast(({ name }) => name === "chat claude-sonnet-5");
    expect(JSON.parse(String(last?.attributes["gen_ai.output.messages"]))).toEqual([
      { role: "assistant", parts: [{ type: "text", content: "secret-plans" }], finish_reason: "stop" },
    ]);
    const texts = stage.collector
      .logs()
      .map(({ name, attributes }) => [
        name,
        attributes["function_args"] ?? attributes["response_text"] ?? attributes["error"],
      ]);
    expect(texts).toEqual([
      ["parley.api_request", undefined],
      ["parley.api_response", "The secret-plans, then."],
      ["parley.tool_call", '{"path":"secret-plans","content":"the key is [secret]"}'],
      ["parley.api_request", undefined],
      ["parley.api_error", expect.stringContaining("secret-plans refused")],
      ["parley.api_request", undefined],
      ["parley.api_response", "secret-plans"],
    ]);
  });

  it("is well-formed, even with broken surrogate pairs", async () => {
    const { telemetry, collector, play } = await openTelemetryFixture({ logPrompts: true });
    play(user("\ud83d"), request(1), message("Half: \ud83d"), finished);
    await telemetry.close();
    expect(collector.logs()[1]?.attributes["response_text"]).toBe("Half: \ufffd");
  });

  it("contains no secret of the environment, not even at a cut", async () => {
    const world = {
      clock: createManualClock(),
      random: Math.random,
      net: realWorld({}).net,
      env: { MY_API_KEY: "hunter2hunter2" },
    };
    const stage = await openTelemetryFixture({ logPrompts: true, world });
    tell(stage);
    stage.play(user(`${"x".repeat(15_990)}hunter2hunter2${"y".repeat(90_000)}`), request(1), message("x"), finished);
    await stage.telemetry.close();
    const sent = stage.collector.requests.map(({ body }) => body).join();
    expect(sent).not.toContain("hunter2");
    expect(sent).toContain("secret-plans are [secret] and [secret]");
    expect(sent).not.toContain("y".repeat(100));
    expect(sent).toContain("... (cut here)");
  });
});
