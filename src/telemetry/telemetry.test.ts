import { afterEach, describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import { callId, done, type Call, type Outcome } from "../conversation/index.ts";
import type { Finished, ToolCallRecord } from "../scheduler/events.ts";
import { realWorld, type Clock } from "../world/index.ts";
import { openCollector, type Collector } from "./collector.cases.ts";
import { openTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.ts";

/** The time at which everything begins. */
const start = Date.UTC(2026, 5, 1);

/** Time that passes when it is told to. */
const handClock = (): Clock & { readonly pass: (ms: number) => void; readonly sleepers: () => readonly number[] } => {
  let elapsed = 0;
  const sleeping = new Set<{ readonly at: number; readonly wake: () => void }>();
  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason as Error);
        const sleeper = { at: elapsed + ms, wake: resolve };
        sleeping.add(sleeper);
        signal?.addEventListener("abort", () => {
          sleeping.delete(sleeper);
          reject(signal.reason as Error);
        });
      }),
    pass: (ms) => {
      elapsed += ms;
      for (const sleeper of sleeping)
        if (sleeper.at <= elapsed) {
          sleeping.delete(sleeper);
          sleeper.wake();
        }
    },
    sleepers: () => [...sleeping].map(({ at }) => at - elapsed),
  };
};

type Stage = {
  readonly telemetry: Telemetry;
  readonly collector: Collector;
  readonly clock: ReturnType<typeof handClock>;
  readonly troubles: readonly string[];
  /** Hears events, or lets time pass between them. */
  readonly play: (...steps: readonly (AgentEvent | number)[]) => void;
};

const opened: Collector[] = [];
afterEach(async () => {
  for (const collector of opened.splice(0)) {
    expect(collector.faults).toEqual([]);
    await collector.close();
  }
});

const openStage = async (
  options: Partial<TelemetryOptions> = {},
  answer?: Parameters<typeof openCollector>[0],
): Promise<Stage> => {
  const collector = await openCollector(answer);
  opened.push(collector);
  const clock = handClock();
  const troubles: string[] = [];
  let count = 0;
  const telemetry = openTelemetry({
    world: { clock, random: () => (++count % 15) / 16, net: realWorld({}).net, env: {} },
    endpoint: collector.url,
    conversation: "s1",
    logPrompts: false,
    trouble: (words) => troubles.push(words),
    ...options,
  });
  const play: Stage["play"] = (...steps) => {
    for (const step of steps)
      if (typeof step === "number") clock.pass(step);
      else telemetry.hear(step);
  };
  return { telemetry, collector, clock, troubles, play };
};

const claude = "anthropic/claude-sonnet-5";
const user = (text: string): AgentEvent => ({ type: "user", parts: [{ type: "text", text }] });
const request = (number: number, facts: { attempt?: number; model?: string; url?: string } = {}): AgentEvent => ({
  type: "request",
  request: { number, model: claude, url: "https://api.anthropic.com/v1/messages", bytes: 100, attempt: 1, ...facts },
  report: { target: claude, idFormat: "anthropic", calls: [], notes: [] },
});
const message = (text: string, thought = ""): AgentEvent => ({ type: "message", text, thought, media: [] });
const usage = (input: number, output: number, answeredBy?: string): AgentEvent => ({
  type: "usage",
  model: claude,
  ...(answeredBy === undefined ? {} : { answeredBy }),
  usage: { input, output, cachedRead: 600, cachedWrite: 100, reasoning: 20 },
  spent: { requests: 1, input, cachedRead: 600, output, cost: 0, unpriced: 0 },
});
const call = (tool: string, value: Readonly<Record<string, string>>): Call => ({
  type: "call",
  id: callId(1),
  tool,
  input: { type: "parsed", value },
});
const requested = (made: Call): AgentEvent => ({ type: "call-requested", call: made });
const executing = (made: Call): AgentEvent => ({
  type: "call-updated",
  call: made.id,
  status: { state: "executing", title: "..." },
});
const completed = (made: Call, record: Partial<ToolCallRecord> = {}, outcome: Outcome = done("a.txt")): AgentEvent => {
  const input = made.input.type === "parsed" ? made.input.value : {};
  const finished: Finished = {
    call: made,
    outcome,
    blobs: {},
    display: { type: "text", text: "" },
    duration: 200.4,
    record: {
      function_name: made.tool,
      function_args: input,
      duration_ms: 200.4,
      success: true,
      decision: "auto_accept",
      tool_type: "native",
      ...record,
    },
  };
  return { type: "call-completed", finished };
};
const finished: AgentEvent = { type: "finished", reason: "stop", text: "One file." };
const overloaded = { kind: "overloaded", provider: "anthropic", label: "Anthropic" } as const;

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
    const { telemetry, collector, play } = await openStage();
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
        ms: [start + 10, start + 1510],
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
        ms: [start + 1545, start + 1745],
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
        ms: [start + 1745, start + 2245],
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
        ms: [start, start + 2245],
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

  it("is told as log records with token counts, bound to the spans", async () => {
    const { telemetry, collector, play } = await openStage();
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
      ms: start + ms,
      span,
      severity: name === "api_error" ? "ERROR" : "INFO",
      body,
      attributes: { ...common, ...attributes },
    });
    const asking = { model: claude, attempt: 1, request_bytes: 100 };
    expect(collector.logs()).toEqual([
      log("api_request", 0, first, `asking ${claude}`, asking),
      log("api_response", 1500, first, `${claude} answered`, {
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
      log("api_request", 1700, failed, `asking ${claude}`, asking),
      log("api_error", 1740.4, failed, `${claude} gave no answer: overloaded`, {
        model: claude,
        attempt: 1,
        duration_ms: 40,
        error_type: "overloaded",
      }),
      log("api_request", 1840.4, second, `asking ${claude}`, { ...asking, attempt: 2 }),
      log("api_response", 1847.4, second, `${claude} answered`, {
        model: claude,
        attempt: 2,
        duration_ms: 7,
        finish_reason: "stop",
      }),
    ]);
  });

  it("is measured: tokens by their kind, and seconds, with errors apart", async () => {
    const { telemetry, collector, play } = await openStage();
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

  it("of a subagent is part of the trace of the turn it works for", async () => {
    const { telemetry, collector, play } = await openStage();
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

  it("is a trace of its own, and numbered", async () => {
    const { telemetry, collector, play } = await openStage();
    for (const words of ["One.", "Two."]) play(user(words), request(1), message("x"), finished);
    await telemetry.close();
    const turns = collector.spans().filter(({ name }) => name === "invoke_agent parley");
    expect(new Set(turns.map(({ trace }) => trace)).size).toBe(2);
    expect(collector.logs().map(({ attributes }) => attributes["prompt_id"])).toEqual(["s1/1", "s1/1", "s1/2", "s1/2"]);
  });
});

describe("what goes wrong", () => {
  const errorsOf = ({ collector }: Stage): readonly unknown[] =>
    collector.spans().map(({ name, failed, attributes }) => [name, failed, attributes["error.type"]]);
  const refused = {
    kind: "refused",
    provider: "anthropic",
    label: "Anthropic",
    status: 400,
    rules: [],
    said: "Bad.",
  } as const;

  it("with a provider ends the request and the turn with its kind", async () => {
    const stage = await openStage();
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
  ])("in a request is told where %s", async (_, events, error) => {
    const stage = await openStage();
    stage.play(user("Go."), request(1), ...events, request(3), message("x"), finished);
    await stage.telemetry.close();
    expect(errorsOf(stage)[0]).toEqual(["chat claude-sonnet-5", true, error]);
    expect(errorsOf(stage).slice(-2)).toEqual([
      ["chat claude-sonnet-5", false, undefined],
      ["invoke_agent parley", false, undefined],
    ]);
  });

  it("in a call is told by its kind", async () => {
    const stage = await openStage();
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

  it("with the program itself: what has not ended when all is over, ends as cancelled", async () => {
    const stage = await openStage();
    stage.play(user("Go."), request(1), { type: "agent", agent: "task-1", event: user("Look.") });
    await stage.telemetry.close();
    expect(errorsOf(stage)).toEqual([
      ["chat claude-sonnet-5", true, "cancelled"],
      ["invoke_agent task-1", true, "cancelled"],
      ["invoke_agent parley", true, "cancelled"],
    ]);
  });
});

describe("what was said", () => {
  const key = "sk-ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789AbCdEfGh";
  const plans = call("write_file", { path: "secret-plans", content: `the key is ${key}` });
  const tell = ({ play }: Stage): void => {
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
      { type: "retrying", failure: { ...overloaded, said }, delay: 1, discarded: false },
      request(3),
      message("secret-plans"),
    );
    play({ type: "finished", reason: "stop", text: "secret-plans hidden" });
  };

  it("stays here: no word, argument, result or message of an error leaves", async () => {
    const stage = await openStage();
    tell(stage);
    await stage.telemetry.close();
    expect(stage.collector.requests.map(({ path }) => path).toSorted()).toEqual([
      "/v1/logs",
      "/v1/metrics",
      "/v1/traces",
    ]);
    expect(stage.collector.requests.map(({ body }) => body).join()).not.toContain("secret-plans");
  });

  it("leaves where the person wants it, without secrets", async () => {
    const { clock, ...stage } = await openStage({ logPrompts: true });
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

  it("holds none of the environment's secrets, and no end of a text without one", async () => {
    const world = {
      clock: handClock(),
      random: Math.random,
      net: realWorld({}).net,
      env: { MY_API_KEY: "hunter2hunter2" },
    };
    const stage = await openStage({ logPrompts: true, world });
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

describe("a collector", () => {
  const turn = [user("Go."), request(1), message("x"), usage(10, 1), finished];

  it("hears nothing where nothing happened", async () => {
    const { telemetry, collector } = await openStage();
    await telemetry.close();
    expect(collector.requests).toEqual([]);
  });

  it("is sent JSON below its own path, and told who sends it", async () => {
    const { collector } = await openStage();
    const { telemetry, play } = await openStage({ endpoint: `${collector.url}/` });
    play(...turn);
    await telemetry.close();
    expect(collector.requests.map(({ path, type }) => [path, type])).toEqual(
      expect.arrayContaining(["logs", "traces", "metrics"].map((name) => [`/v1/${name}`, "application/json"])),
    );
    const { resourceSpans } = JSON.parse(collector.requests.find(({ path }) => path === "/v1/traces")?.body ?? "") as {
      resourceSpans: [{ resource: { attributes: { key: string }[] } }];
    };
    expect(resourceSpans[0].resource.attributes.map(({ key }) => key)).toEqual([
      "service.name",
      "service.version",
      "service.instance.id",
    ]);
  });

  it("gets what there is every five seconds, and at once where there is much", async () => {
    const arrived = arrivals(3);
    const { telemetry, collector, play, clock } = await openStage({}, arrived.answer);
    play(...turn);
    expect(clock.sleepers()).toEqual([5000]);
    play(4999);
    expect(collector.requests).toEqual([]);
    play(1);
    await arrived.all;
    expect(collector.spans()).toHaveLength(2);
    const more = arrivals(3);
    arrived.next(more);
    for (let count = 0; count < 200; count++) play(...turn);
    await more.all;
    expect(collector.spans().length).toBeGreaterThan(250);
    await telemetry.close();
    expect(collector.spans()).toHaveLength(402);
    expect(collector.metrics()[0]?.points[0]?.count).toBe(201);
  });

  it("that is busy gets the same again later; one that refuses does not, and the person is told once", async () => {
    const answers = [503, 503, 503, 200, 200, 200];
    const stage = await openStage({}, (response) => void response.writeHead(answers.shift() ?? 200).end());
    stage.play(...turn, 5000);
    await expect.poll(() => stage.clock.sleepers()).toEqual([10_000]);
    await stage.telemetry.close();
    const bodies = stage.collector.requests.filter(({ path }) => path === "/v1/traces").map(({ body }) => body);
    expect(bodies).toEqual([bodies[0], bodies[0]]);
    expect(stage.troubles).toEqual([
      `Telemetry cannot be delivered to ${stage.collector.url}: it answered 503. The work goes on without it.`,
    ]);
    const refusing = await openStage({}, (response) => void response.writeHead(400).end());
    refusing.play(...turn, 5000);
    await expect.poll(() => refusing.troubles.length).toBe(1);
    await refusing.telemetry.close();
    expect(refusing.collector.requests).toHaveLength(3);
    expect(refusing.troubles).toHaveLength(1);
  });

  it("that is not there costs nothing but a word", async () => {
    const stage = await openStage({ endpoint: "http://127.0.0.1:1" });
    stage.play(...turn);
    await stage.telemetry.close();
    expect(stage.troubles).toEqual([
      "Telemetry cannot be delivered to http://127.0.0.1:1: connect ECONNREFUSED 127.0.0.1:1. The work goes on without it.",
    ]);
  });

  it("that never answers is waited for two seconds at the end, and no longer", async () => {
    const arrived = arrivals(3, () => undefined);
    const stage = await openStage({}, arrived.answer);
    stage.play(...turn);
    const closing = stage.telemetry.close();
    await arrived.all;
    expect(stage.clock.sleepers()).toEqual([2000, 10_000, 10_000, 10_000]);
    stage.play(2000);
    await closing;
    expect(stage.troubles).toEqual([
      `Telemetry cannot be delivered to ${stage.collector.url}: no answer within 2 s. The work goes on without it.`,
    ]);
    expect(stage.clock.sleepers()).toEqual([]);
  });

  it("that never answers while work goes on is left after ten seconds", async () => {
    const arrived = arrivals(3, () => undefined);
    const stage = await openStage({}, arrived.answer);
    stage.play(...turn, 5000);
    await arrived.all;
    stage.play(10_000);
    await expect.poll(() => stage.clock.sleepers()).toEqual([10_000]);
    expect(stage.troubles[0]).toContain("no answer within 10 s");
  });

  it("that stays away leaves no more waiting than there is room for", async () => {
    const { telemetry, collector, play } = await openStage({ logPrompts: true });
    const long = "x".repeat(16_000);
    for (let count = 0; count < 250; count++) play(user(long), request(1), message(long), finished);
    await telemetry.close();
    const size = collector.requests.reduce((all, { body }) => all + body.length, 0);
    expect(size).toBeGreaterThan(7_900_000);
    expect(size).toBeLessThan(8_100_000);
  });
});

/** Settles when so many requests came. */
const arrivals = (
  count: number,
  reply: Parameters<typeof openCollector>[0] = (response) => void response.writeHead(200).end("{}"),
): {
  readonly all: Promise<void>;
  readonly answer: NonNullable<typeof reply>;
  readonly next: (other: { hear: () => void }) => void;
  readonly hear: () => void;
} => {
  let left = count;
  let settle: () => void = () => undefined;
  let following: { hear: () => void } | undefined;
  const all = new Promise<void>((resolve) => (settle = resolve));
  const hear = (): void => {
    if (left === 0) return following?.hear();
    left -= 1;
    if (left === 0) settle();
  };
  return {
    all,
    hear,
    next: (other) => void (following = other),
    answer: (response, path) => {
      hear();
      reply(response, path);
    },
  };
};
