import { describe, expect, it } from "vitest";
import { ask, createClient, followUp, ls, picture } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";
import type { Script } from "../model/script.ts";

const looking: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        {
          think: "I should look around.",
          say: "Looking.",
          call: [
            { tool: "ls", input: { path: "/tmp/a folder with a long name" } },
            { tool: "ls", input: {} },
          ],
        },
        { say: "I saw it." },
      ],
    },
  ],
};

const callsIn = (content: unknown): readonly Json[] =>
  (content as readonly Json[]).filter(({ type }) => type === "tool_use");

describe("a tool loop with Claude", () => {
  it("is answered with thinking, text and calls, and continues once every call has a result, images included", async () => {
    const { send, simulator } = createClient({ script: looking });
    const first = await send(ask("look", { thinking: { type: "adaptive", display: "summarized" } }));
    const content = first.body["content"] as readonly Json[];
    expect(first.status).toBe(200);
    expect(first.body).toEqual({
      model: "claude-opus-5-5",
      id: expect.stringMatching(/^msg_01\w{22}$/),
      type: "message",
      role: "assistant",
      content: [
        {
          type: "thinking",
          thinking: "I should look around.",
          signature: expect.stringMatching(/^[\w+/]{100,}={0,2}$/),
        },
        { type: "text", text: "Looking." },
        {
          type: "tool_use",
          id: expect.stringMatching(/^toolu_01\w{22}$/),
          name: "ls",
          input: { path: "/tmp/a folder with a long name" },
          caller: { type: "direct" },
        },
        {
          type: "tool_use",
          id: expect.stringMatching(/^toolu_01\w{22}$/),
          name: "ls",
          input: {},
          caller: { type: "direct" },
        },
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      stop_details: null,
      usage: {
        input_tokens: 33,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 38,
        service_tier: "standard",
        inference_geo: "global",
        output_tokens_details: { thinking_tokens: 6 },
      },
    });
    const [one, two] = callsIn(content);
    const second = await send(
      followUp(ask("look", { thinking: { type: "adaptive", display: "summarized" } }), content, [
        { type: "tool_result", tool_use_id: one?.["id"], content: [{ type: "text", text: "a.png" }, picture] },
        { type: "tool_result", tool_use_id: two?.["id"], is_error: true, content: "There is no such folder." },
      ]),
    );
    expect(second.body["content"]).toEqual([{ type: "text", text: "I saw it." }]);
    expect(second.body["stop_reason"]).toBe("end_turn");
    expect(simulator.log.map(({ verdict }) => verdict)).toEqual(["accepted", "accepted"]);
    expect(simulator.log[1]).toMatchObject({ usage: { inputBy: { image: 1000 } } });
  });

  it("streams the same content", async () => {
    const { send, stream } = createClient({ script: looking });
    const settings = { thinking: { type: "adaptive", display: "summarized" } };
    const whole = await send(ask("look", settings));
    const events = await stream(ask("look", settings));
    expect(events.map(({ type }) => type).filter((type) => type !== "content_block_delta")).toEqual([
      "message_start",
      "content_block_start",
      "ping",
      "content_block_stop",
      "content_block_start",
      "content_block_stop",
      "content_block_start",
      "content_block_stop",
      "content_block_start",
      "content_block_stop",
      "message_delta",
      "message_stop",
    ]);
    const withoutIds = (content: unknown): unknown =>
      (content as readonly Json[]).map((block) => ({ ...block, id: undefined }));
    expect(withoutIds(assembled(events))).toEqual(withoutIds(whole.body["content"]));
    expect(events.at(-2)).toEqual({
      type: "message_delta",
      delta: { stop_reason: "tool_use", stop_sequence: null, stop_details: null },
      usage: {
        input_tokens: 33,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        output_tokens: 38,
        output_tokens_details: { thinking_tokens: 6 },
      },
    });
  });

  it("sends a call without arguments as one empty delta", async () => {
    const events = await createClient({ script: looking }).stream(ask("look"));
    const last = events.filter(({ index }) => index === 3);
    expect(last.map(({ delta }) => delta)).toEqual([
      undefined,
      { type: "input_json_delta", partial_json: "" },
      undefined,
    ]);
  });
});

/** Collects the content of a stream's events. */
const assembled = (events: readonly Json[]): readonly Json[] => {
  const blocks: Record<string, unknown>[] = [];
  const inputs = new Map<number, string>();
  for (const { type, index, content_block: block, delta } of events) {
    const at = Number(index);
    const change = asObject(delta);
    const target = blocks[at];
    if (type === "content_block_start") blocks.push({ ...asObject(block) });
    if (type !== "content_block_delta" || target === undefined) continue;
    if (change["type"] === "input_json_delta")
      inputs.set(at, `${inputs.get(at) ?? ""}${String(change["partial_json"])}`);
    else
      for (const [field, piece] of Object.entries(change))
        if (field !== "type") target[field] = `${String(target[field])}${String(piece)}`;
  }
  return blocks.map((block, index) => {
    const input = inputs.get(index);
    return input === undefined || input === "" ? block : { ...block, input: JSON.parse(input) as unknown };
  });
};

describe("a response of Claude", () => {
  it.each([
    ["stop", "end_turn"],
    ["length", "max_tokens"],
    ["refused", "refusal"],
    ["paused", "pause_turn"],
    ["context", "model_context_window_exceeded"],
  ] as const)("has its own stop reason: %s is %s", async (finish, reason) => {
    const { body } = await createClient({ script: { rules: [], otherwise: { say: "So.", finish } } }).send(ask("hi"));
    expect(body["stop_reason"]).toBe(reason);
  });

  it("is truncated at max_tokens", async () => {
    const script: Script = {
      rules: [],
      otherwise: { say: "one two three four five", call: { tool: "ls", input: {} } },
    };
    const { body } = await createClient({ script }).send(ask("hi", { max_tokens: 2 }));
    expect([body["content"], body["stop_reason"]]).toEqual([[{ type: "text", text: "one two " }], "max_tokens"]);
  });

  it("cites the results of server tools", async () => {
    const tools = [{ type: "web_search_20250305", name: "web_search" }];
    const { body } = await createClient().send(ask("news", { tools }));
    const [use, found, text] = body["content"] as readonly Json[];
    expect(use).toMatchObject({ type: "server_tool_use", name: "web_search", input: { query: "news" } });
    expect(found).toMatchObject({ type: "web_search_tool_result", tool_use_id: use?.["id"] });
    expect(text).toMatchObject({ type: "text", citations: [{ type: "web_search_result_location" }] });
    expect(body["usage"]).toMatchObject({ server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } });
    const events = await createClient().stream(ask("news", { tools }));
    expect(
      events.map(({ delta }) => asObject(delta)["type"]).filter((type) => type === "citations_delta"),
    ).toHaveLength(1);
  });
});

describe("the other endpoints", () => {
  it("count tokens without max_tokens and without a response", async () => {
    const { send, simulator } = createClient();
    const { max_tokens: _, ...body } = ask("hi", { system: "x".repeat(400), tools: [ls] });
    expect((await send(body, {}, "/v1/messages/count_tokens")).body).toEqual({ input_tokens: 133 });
    expect(simulator.log[0]).toMatchObject({ verdict: "accepted", usage: { input: 133, output: 0 } });
  });

  it("list the models, and describe one", async () => {
    const { simulator } = createClient();
    const get = async (path: string): Promise<number> => {
      const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" };
      return (await simulator.handle({ method: "GET", url: `https://api.anthropic.com${path}`, headers })).status;
    };
    expect(await get("/v1/models")).toBe(200);
    expect(await get("/v1/models/claude-opus-5-5")).toBe(200);
    expect(await get("/v1/models/gpt-5")).toBe(404);
    expect(await get("/v1/nothing")).toBe(404);
  });
});
