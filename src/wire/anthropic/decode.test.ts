import { describe, expect, it } from "vitest";
import type { Target } from "../../transcript/target.ts";
import { anthropic, type AnthropicDialect } from "./encode.ts";
import {
  collectResponse,
  eventsOf,
  expectContract,
  arbitraryFaultyFrames,
  named,
  only,
  encodeBack,
  typed,
} from "../decode/blocks.cases.ts";
import type { StreamFrame } from "../decode/events.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const { decode } = anthropic;
const read = (...frames: readonly StreamFrame[]) => eventsOf(decode, frames);

const opened = typed("message_start", {
  message: {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "claude-sonnet-5",
    content: [],
    stop_reason: null,
    usage: { input_tokens: 20, cache_creation_input_tokens: 5, cache_read_input_tokens: 100, output_tokens: 1 },
  },
});
const start = (index: number, content_block: unknown): StreamFrame =>
  typed("content_block_start", { index, content_block });
const delta = (index: number, piece: unknown): StreamFrame => typed("content_block_delta", { index, delta: piece });
const stop = (index: number): StreamFrame => typed("content_block_stop", { index });
const words = (index: number, text: string): StreamFrame => delta(index, { type: "text_delta", text });
const json = (index: number, partial_json: string): StreamFrame =>
  delta(index, { type: "input_json_delta", partial_json });
const why = (stop_reason: string | null, usage: unknown = { output_tokens: 60 }): StreamFrame =>
  typed("message_delta", { delta: { stop_reason, stop_sequence: null }, usage });
const closed = typed("message_stop");
const noText = { type: "text", text: "" };
const use = (id: string, name: string, input: unknown = {}) => ({ type: "tool_use", id, name, input });
const said = (text: string): readonly StreamFrame[] => [start(0, noText), words(0, text), stop(0)];

/** Thinking, hidden thinking, words and two calls. */
const stream: readonly StreamFrame[] = [
  opened,
  start(0, { type: "thinking", thinking: "", signature: "" }),
  typed("ping"),
  delta(0, { type: "thinking_delta", thinking: "Two " }),
  delta(0, { type: "thinking_delta", thinking: "files." }),
  delta(0, { type: "signature_delta", signature: "c2ln+/==" }),
  stop(0),
  start(1, { type: "redacted_thinking", data: "b3Bh+/==" }),
  stop(1),
  start(2, noText),
  words(2, "I "),
  words(2, "look."),
  stop(2),
  start(3, use("toolu_1", "read_file")),
  json(3, ""),
  json(3, '{"path":'),
  json(3, ' "a.txt"}'),
  stop(3),
  start(4, use("toolu_2", "list")),
  json(4, ""),
  stop(4),
  why("tool_use", { output_tokens: 60, output_tokens_details: { thinking_tokens: 12 } }),
  closed,
];

/** The same answer, whole. */
const whole = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude-sonnet-5",
  content: [
    { type: "thinking", thinking: "Two files.", signature: "c2ln+/==" },
    { type: "redacted_thinking", data: "b3Bh+/==" },
    { type: "text", text: "I look." },
    use("toolu_1", "read_file", { path: "a.txt" }),
    use("toolu_2", "list"),
  ],
  stop_reason: "tool_use",
  usage: {
    input_tokens: 20,
    cache_creation_input_tokens: 5,
    cache_read_input_tokens: 100,
    output_tokens: 60,
    output_tokens_details: { thinking_tokens: 12 },
  },
};

const call = (tool: string, text: string, id: string) => ({ type: "call", tool, input: { text }, seal: { id } });

describe("a stream", () => {
  it("is emitted as it arrives, each part complete at its end", () => {
    expect(read(...stream)).toEqual([
      { type: "response-start", model: "claude-sonnet-5", id: "msg_1" },
      { type: "usage", usage: { input: 125, cachedRead: 100, cachedWrite: 5, output: 1, reasoning: 0 } },
      { type: "thinking-delta", index: 0, text: "Two " },
      { type: "thinking-delta", index: 0, text: "files." },
      {
        type: "part-end",
        index: 0,
        part: { type: "thinking", text: "Two files.", seal: { signature: "c2ln+/==" } },
      },
      { type: "part-end", index: 1, part: { type: "thinking", text: "", seal: { encrypted: "b3Bh+/==" } } },
      { type: "text-delta", index: 2, text: "I " },
      { type: "text-delta", index: 2, text: "look." },
      { type: "part-end", index: 2, part: { type: "text", text: "I look." } },
      { type: "call-start", index: 3, tool: "read_file", id: "toolu_1" },
      { type: "call-delta", index: 3, text: '{"path":' },
      { type: "call-delta", index: 3, text: ' "a.txt"}' },
      { type: "part-end", index: 3, part: call("read_file", '{"path": "a.txt"}', "toolu_1") },
      { type: "call-start", index: 4, tool: "list", id: "toolu_2" },
      { type: "part-end", index: 4, part: call("list", "", "toolu_2") },
      { type: "usage", usage: { input: 125, cachedRead: 100, cachedWrite: 5, output: 60, reasoning: 12 } },
      { type: "finish", reason: "calls", raw: "tool_use" },
    ]);
  });

  it("that is cut anywhere has no finish, and no part that did not end", () => {
    for (let cut = 0; cut < stream.length; cut++) {
      const before = stream.slice(0, cut);
      const ended = before.filter(({ name }) => name === "content_block_stop").length;
      const { parts, finish } = collectResponse(read(...before));
      expect({ cut, finish, parts: parts.length }).toEqual({ cut, finish: undefined, parts: ended });
    }
  });

  it("that closes after its stop reason, without message_stop, is cut", () => {
    expect(collectResponse(read(opened, ...said("Hi"), why("end_turn"))).finish).toBeUndefined();
  });

  it("says nothing after its end but that something came", () => {
    const late = read(
      opened,
      ...said("Hi"),
      why("end_turn"),
      closed,
      closed,
      typed("ping"),
      ...said("More"),
      named("[DONE]"),
    );
    expect(late.slice(late.findIndex(({ type }) => type === "finish") + 1)).toEqual([
      { type: "skipped", what: "message_stop after the end" },
      { type: "skipped", what: "content_block_start after the end" },
      { type: "skipped", what: "content_block_delta after the end" },
      { type: "skipped", what: "content_block_stop after the end" },
      { type: "skipped", what: "[DONE] after the end" },
    ]);
  });

  it("may name its events in the data, in the framing, or in both", () => {
    const bare = stream.map(({ data }) => named("", data));
    const unsaid = stream.map(({ name, data }) => named(name, { ...(data as object), type: undefined }));
    expect(read(...bare)).toEqual(read(...stream));
    expect(read(...unsaid)).toEqual(read(...stream));
  });

  it("leaves out empty text and thinking, and counts them not", () => {
    const events = read(
      opened,
      start(0, { type: "thinking", thinking: "", signature: "" }),
      stop(0),
      start(1, noText),
      stop(1),
      start(2, use("toolu_1", "list")),
      stop(2),
      closed,
    );
    expect(only("part-end", events)).toEqual([{ type: "part-end", index: 0, part: call("list", "", "toolu_1") }]);
  });

  it("keeps a signature whose thinking is not shown", () => {
    const hidden = [
      start(0, { type: "thinking", thinking: "", signature: "" }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
    ];
    expect(collectResponse(read(opened, ...hidden, stop(0), closed)).parts).toEqual([
      { type: "thinking", text: "", seal: { signature: "c2ln" } },
    ]);
  });

  it("takes a block that some gateways send whole with its start", () => {
    const given = { path: "a.txt", depth: [1, { b: null }] };
    const events = read(
      opened,
      start(0, { type: "thinking", thinking: "Hm.", signature: "c2ln" }),
      delta(0, { type: "signature_delta", signature: "c2ln" }),
      stop(0),
      start(1, { type: "text", text: "Hi" }),
      words(1, " you"),
      stop(1),
      start(2, use("toolu_1", "read_file", given)),
      stop(2),
      start(3, use("toolu_2", "read_file", { path: "stale" })),
      json(3, '{"path":"b.txt"}'),
      stop(3),
      why("tool_use"),
      closed,
    );
    const text = JSON.stringify(given);
    expect(collectResponse(events).parts).toEqual([
      { type: "thinking", text: "Hm.", seal: { signature: "c2ln" } },
      { type: "text", text: "Hi you" },
      call("read_file", text, "toolu_1"),
      call("read_file", '{"path":"b.txt"}', "toolu_2"),
    ]);
    expect(only("call-delta", events).map((event) => event.text)).toEqual([text, '{"path":"b.txt"}']);
  });

  it("may leave blocks open until it ends, and may go back to one", () => {
    const events = read(
      opened,
      start(0, noText),
      words(0, "a"),
      start(1, use("toolu_1", "list")),
      json(1, "{"),
      words(0, "b"),
      json(1, "}"),
      why("tool_use"),
      closed,
    );
    expect(collectResponse(events)).toMatchObject({
      parts: [{ type: "text", text: "ab" }, call("list", "{}", "toolu_1")],
      finish: "calls",
    });
  });

  it("may repeat itself without harm", () => {
    const twice = [
      opened,
      opened,
      start(0, noText),
      start(0, noText),
      words(0, "Hi"),
      stop(0),
      stop(0),
      why("end_turn"),
      closed,
    ];
    const events = read(...twice);
    expect(collectResponse(events)).toMatchObject({ parts: [{ type: "text", text: "Hi" }], finish: "stop" });
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "message_start, said twice",
      "block 0, begun twice",
      "block 0, ended twice",
    ]);
  });

  it("passes over what the server's own tools do, and keeps every word", () => {
    const events = read(
      opened,
      ...said("Let me see."),
      start(1, { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: {} }),
      json(1, '{"query":"x"}'),
      stop(1),
      start(2, { type: "web_search_tool_result", tool_use_id: "srvtoolu_1", content: [] }),
      stop(2),
      start(3, { type: "text", text: "", citations: [] }),
      delta(3, { type: "citations_delta", citation: { type: "web_search_result_location" } }),
      words(3, "It is so."),
      stop(3),
      typed("something_new", { n: 1 }),
      why("end_turn"),
      closed,
    );
    expect(collectResponse(events)).toMatchObject({
      parts: [
        { type: "text", text: "Let me see." },
        { type: "text", text: "It is so." },
      ],
      finish: "stop",
    });
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "server_tool_use block",
      "web_search_tool_result block",
      "citations_delta",
      "something_new frame",
    ]);
  });

  it("drops redacted thinking that is no seal", () => {
    const events = read(opened, start(0, { type: "redacted_thinking", data: "not base64!" }), stop(0), closed);
    expect(collectResponse(events).parts).toEqual([]);
    expect(only("skipped", events)).toEqual([{ type: "skipped", what: "redacted_thinking block" }]);
  });
});

describe("the end of an answer", () => {
  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "context"],
    ["pause_turn", "paused"],
    ["refusal", "refused"],
    ["compaction", "other"],
    ["constructor", "other"],
  ])("by %s is %s", (raw, reason) => {
    expect(only("finish", read(opened, ...said("Hi"), why(raw), closed))).toEqual([{ type: "finish", reason, raw }]);
  });

  it.each([["end_turn"], ["stop_sequence"], ["tool_use"]])(
    "with a call is a wait for its result, also by %s",
    (raw) => {
      const frames = [opened, start(0, use("toolu_1", "list")), stop(0), why(raw), closed];
      expect(only("finish", read(...frames))).toEqual([{ type: "finish", reason: "calls", raw }]);
    },
  );

  it.each([[why(null)], [why("")], [typed("ping")]])("needs no reason", (reasonless) => {
    const finished = only("finish", read(opened, ...said("Hi"), reasonless, closed));
    const called = only("finish", read(opened, start(0, use("toolu_1", "list")), stop(0), reasonless, closed));
    expect([finished, called]).toEqual([[{ type: "finish", reason: "stop" }], [{ type: "finish", reason: "calls" }]]);
  });

  it("keeps its reason when only counts follow", () => {
    expect(collectResponse(read(opened, ...said("Hi"), why("max_tokens"), why(null), closed)).finish).toBe("length");
  });

  it("by tool_use without a call waits for nothing", () => {
    expect(collectResponse(read(opened, ...said("Hi"), why("tool_use"), closed)).finish).toBe("other");
  });

  it("by the limit inside a call hands the half call over, as text", () => {
    const frames = [
      opened,
      start(0, use("toolu_1", "write")),
      json(0, '{"text":"lon'),
      stop(0),
      why("max_tokens"),
      closed,
    ];
    expect(collectResponse(read(...frames))).toMatchObject({
      parts: [call("write", '{"text":"lon', "toolu_1")],
      finish: "length",
    });
  });
});

describe("what was used", () => {
  const used = (first: unknown, ...later: readonly unknown[]) =>
    collectResponse(
      read(
        typed("message_start", { message: { usage: first } }),
        ...later.map((usage) => typed("message_delta", { delta: {}, usage })),
      ),
    ).usage;

  it("keeps counts that are not said again", () => {
    expect(used({ input_tokens: 7, cache_read_input_tokens: 3, output_tokens: 1 }, { output_tokens: 9 })).toEqual({
      input: 10,
      cachedRead: 3,
      cachedWrite: 0,
      output: 9,
      reasoning: 0,
    });
  });

  it("takes the prompt from the end where the start could not count it, and not the other way round", () => {
    const late = { input_tokens: 20, cache_read_input_tokens: 80, output_tokens: 9 };
    const counted = { input: 100, cachedRead: 80, cachedWrite: 0, output: 9, reasoning: 0 };
    expect(used({ input_tokens: 0, output_tokens: 0 }, late)).toEqual(counted);
    expect(used({ input_tokens: 100, output_tokens: 0 }, late)).toEqual(counted);
    expect(used(late, { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 })).toEqual(counted);
    expect(used(late, { input_tokens: 20 })).toEqual(counted);
  });

  it("finds cache writes that are reported by TTL", () => {
    const creation = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 12 };
    expect(used({ input_tokens: 1, cache_creation: creation })).toMatchObject({ input: 43, cachedWrite: 42 });
  });

  it("is never negative, text or more thought than said", () => {
    const wild = {
      input_tokens: -5,
      cache_read_input_tokens: "9",
      output_tokens: 10.4,
      output_tokens_details: { thinking_tokens: 99 },
    };
    expect(used(wild)).toEqual({ input: 0, cachedRead: 0, cachedWrite: 0, output: 10, reasoning: 10 });
    expect(used("much")).toBeUndefined();
  });
});

describe("a stream that cannot be trusted", () => {
  it.each([
    ["a piece of a block that never began", [opened, words(0, "Hi")]],
    ["a piece of a block that has ended", [opened, ...said("Hi"), words(0, "!")]],
    ["a block that skips a number", [opened, start(1, noText)]],
    ["a block without a number", [opened, typed("content_block_start", { content_block: noText })]],
    ["an end of a block that never began", [opened, stop(0)]],
    ["words in a call", [opened, start(0, use("toolu_1", "list")), words(0, "Hi")]],
    ["arguments in words", [opened, start(0, noText), json(0, "{}")]],
    ["an answer in the user's name", [typed("message_start", { message: { role: "user" } })]],
    ["an end without a beginning", [closed]],
    ["a thousand open blocks and more", Array.from({ length: 1001 }, (_, index) => start(index, noText))],
  ])("is broken by %s, and is not finished after that", (_, frames) => {
    const events = read(...frames, why("end_turn"), closed);
    expect([only("malformed", events).length, only("finish", events).length]).toEqual([1, 0]);
  });
});

describe("an error", () => {
  const overloaded = { type: "overloaded_error", message: "Overloaded" };
  const apiError = { message: "Overloaded", code: "overloaded_error" };

  it.each([
    ["as its own event", typed("error", { error: overloaded })],
    ["under a name only", named("error", { error: overloaded })],
    ["without a name", named("", { error: overloaded })],
  ])("in the middle of a stream ends it: %s", (_, frame) => {
    const events = read(opened, start(0, noText), words(0, "Hi"), frame, stop(0), why("end_turn"), closed);
    expect(events.slice(3)).toEqual([
      { type: "error", error: apiError },
      { type: "skipped", what: "content_block_stop after the end" },
      { type: "skipped", what: "message_delta after the end" },
      { type: "skipped", what: "message_stop after the end" },
    ]);
  });

  it("without words still is one", () => {
    expect(only("error", read(opened, typed("error")))).toEqual([
      { type: "error", error: { message: "The server reported an error and said nothing about it." } },
    ]);
  });

  it.each([
    [{ type: "error", error: overloaded, request_id: "req_1" }, apiError],
    [
      {
        type: "error",
        error: {
          type: "rate_limit_error",
          message: "You have reached your limit.",
          details: { error_code: "enforced_spend_limit_reached" },
        },
      },
      {
        message: "You have reached your limit.",
        code: "rate_limit_error",
        reasons: ["enforced_spend_limit_reached"],
      },
    ],
    ["upstream timed out", { message: "upstream timed out" }],
    [{ detail: "Not Found" }, { message: "Not Found" }],
    ["  ", undefined],
    [{}, undefined],
    [null, undefined],
    [whole, undefined],
  ])("in a body is read: %j", (body, expected) => {
    expect(decode.parseError(body)).toEqual(expected);
  });
});

describe("a whole answer", () => {
  it("is the same answer as the stream of it", () => {
    const events = eventsOf(decode, decode.frames(whole));
    const { parts, ...rest } = collectResponse(read(...stream));
    const streamed = parts.map((part) => (part.type === "call" ? { ...part, input: compact(part.input) } : part));
    expect(collectResponse(events)).toEqual({ parts: streamed, ...rest });
    expect(events[0]).toEqual({ type: "response-start", model: "claude-sonnet-5", id: "msg_1" });
  });

  it("may hold its words bare", () => {
    const bare = (content: unknown) =>
      collectResponse(eventsOf(decode, decode.frames({ content, stop_reason: "end_turn" })));
    expect([bare("Hi"), bare(["Hi"])]).toEqual([
      { parts: [{ type: "text", text: "Hi" }], finish: "stop", raw: "end_turn" },
      { parts: [{ type: "text", text: "Hi" }], finish: "stop", raw: "end_turn" },
    ]);
  });

  it("passes over what has no place in a message", () => {
    const content = [{ type: "server_tool_use", id: "s" }, { type: "text", text: "Hi", citations: [{}] }, null];
    const events = eventsOf(decode, decode.frames({ ...whole, content }));
    expect(collectResponse(events).parts).toEqual([{ type: "text", text: "Hi" }]);
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "server_tool_use block",
      "citations",
      expect.stringMatching(/ block$/),
    ]);
  });

  it("that is none has no finish", () => {
    for (const body of [{}, [], null, "x", 7, { content: 5 }, { type: "message" }])
      expect(collectResponse(eventsOf(decode, decode.frames(body))).finish).toBeUndefined();
  });

  it("that is an error is a problem", () => {
    const body = { type: "error", error: { type: "api_error", message: "Internal server error" } };
    expect(eventsOf(decode, decode.frames(body))).toEqual([
      { type: "error", error: { message: "Internal server error", code: "api_error" } },
    ]);
  });
});

/** Arguments as a server would write them that gives an object. */
const compact = (input: { readonly text: string } | { readonly value: unknown }) =>
  "text" in input && input.text !== "" ? { text: JSON.stringify(JSON.parse(input.text)) } : input;

describe("an answer that goes back to Anthropic", () => {
  const from = { provider: "anthropic", model: "claude-sonnet-5" };
  const dialect: AnthropicDialect = { thinking: "adaptive", forcedTools: true, sampling: true, maxTokens: 8192 };
  const target: Target = {
    ...from,
    ids: { name: "anthropic", legal: /^[\w-]{1,64}$/, project: (ordinal) => `toolu_p${ordinal}` },
    toolName: /^[\w-]{1,64}$/,
    media: { result: {}, errorResult: {}, user: {}, model: {} },
    thinking: { form: "signed", readers: [], bound: false },
    order: { userFirst: true, userLast: true, alternate: false, bridgeAfterResults: false },
  };

  it.each([
    ["streamed", stream],
    ["whole", decode.frames(whole)],
  ])("is the blocks Anthropic sent, byte for byte: %s", (_, frames) => {
    const back = encodeBack(anthropic, collectResponse(read(...frames)), { from, target, dialect });
    expect(JSON.stringify(back)).toBe(JSON.stringify(whole.content));
  });
});

describe("whatever a server sends", () => {
  const law = { decode, ends: ["content_block_stop", "message_stop"] };

  it("keeps to the rules with frames lost, repeated and moved", () => {
    fc.assert(
      fc.property(arbitraryFaultyFrames(stream), (frames) => expectContract(law, frames)),
      { numRuns: runsPerTier(1500) },
    );
  });

  it("keeps to the rules with frames that make no sense", () => {
    const anything = fc.jsonValue({ maxDepth: 3 });
    const kind = fc.constantFrom(
      "thinking",
      "redacted_thinking",
      "tool_use",
      "text",
      "text_delta",
      "signature_delta",
      "x",
    );
    const held = fc.record({
      type: kind,
      text: anything,
      id: anything,
      name: anything,
      input: anything,
      data: anything,
    });
    const fields = {
      index: fc.oneof(fc.nat(3), anything),
      message: fc.oneof(fc.record({ usage: anything, role: anything }), anything),
      content_block: fc.oneof(held, anything),
      delta: fc.oneof(held, anything),
      usage: fc.oneof(
        fc.dictionary(fc.constantFrom("input_tokens", "cache_creation", "output_tokens"), anything),
        anything,
      ),
    };
    const names = [...new Set(stream.map(({ name }) => name)), "error", ""];
    const frame = fc
      .record({ name: fc.constantFrom(...names), data: fc.oneof(fc.record(fields, { requiredKeys: [] }), anything) })
      .map(({ name, data }) => ({ name, data: data as unknown }));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => expectContract(law, frames)),
      { numRuns: runsPerTier(1000) },
    );
  });

  it("reads any body and any error without a throw", () => {
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({
        content: fc.array(fc.oneof(fc.jsonValue(), fc.record({ type: fc.string(), text: fc.jsonValue() }))),
      }),
    );
    fc.assert(
      fc.property(body, (any) => {
        decode.parseError(any);
        expectContract(law, decode.frames(any));
      }),
      { numRuns: runsPerTier(500) },
    );
  });

  it("reads arguments nested deeper than can be written", () => {
    const deep = JSON.parse(`${"[".repeat(50_000)}${"]".repeat(50_000)}`) as unknown;
    const frames = [opened, start(0, use("toolu_1", "list", deep)), stop(0), why("tool_use"), closed];
    expect(collectResponse(read(...frames)).finish).toBe("calls");
    expect(decode.parseError({ detail: deep, error: deep })).toBeDefined();
  });
});
