import { describe, expect, it } from "vitest";
import type { Target } from "../../transcript/target.ts";
import { bedrock, type BedrockDialect } from "./encode.ts";
import {
  collectResponse,
  eventsOf,
  expectContract,
  arbitraryFaultyFrames,
  named,
  only,
  encodeBack,
} from "../decode/blocks.cases.ts";
import type { StreamFrame } from "../decode/events.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const { decode } = bedrock;
const read = (...frames: readonly StreamFrame[]) => eventsOf(decode, frames);

const opened = named("messageStart", { role: "assistant", p: "abc" });
const start = (contentBlockIndex: number, block: unknown): StreamFrame =>
  named("contentBlockStart", { contentBlockIndex, start: block, p: "ab" });
const delta = (contentBlockIndex: number, piece: unknown): StreamFrame =>
  named("contentBlockDelta", { contentBlockIndex, delta: piece, p: "abcd" });
const stop = (contentBlockIndex: number): StreamFrame => named("contentBlockStop", { contentBlockIndex, p: "a" });
const words = (at: number, text: string): StreamFrame => delta(at, { text });
const thought = (at: number, reasoningContent: unknown): StreamFrame => delta(at, { reasoningContent });
const json = (at: number, input: string): StreamFrame => delta(at, { toolUse: { input } });
const use = (toolUseId: string, name: string, more: object = {}) => ({ toolUse: { toolUseId, name, ...more } });
const why = (stopReason: string): StreamFrame => named("messageStop", { stopReason, p: "abcdef" });
const usage = {
  inputTokens: 20,
  outputTokens: 60,
  totalTokens: 185,
  cacheReadInputTokens: 100,
  cacheWriteInputTokens: 5,
};
const metadata = named("metadata", { usage, metrics: { latencyMs: 600 }, p: "ab" });
const said = (text: string): readonly StreamFrame[] => [words(0, text), stop(0)];

/** Thinking, hidden thinking, words and two calls. */
const stream: readonly StreamFrame[] = [
  opened,
  thought(0, { text: "Two " }),
  thought(0, { text: "files." }),
  thought(0, { signature: "c2ln+/==" }),
  stop(0),
  thought(1, { redactedContent: "b3Bh+/==" }),
  stop(1),
  words(2, "I "),
  words(2, "look."),
  stop(2),
  start(3, use("tooluse_1", "read_file")),
  json(3, '{"path":'),
  json(3, ' "a.txt"}'),
  stop(3),
  start(4, use("tooluse_2", "list")),
  json(4, ""),
  stop(4),
  why("tool_use"),
  metadata,
];

const content = [
  { reasoningContent: { reasoningText: { text: "Two files.", signature: "c2ln+/==" } } },
  { reasoningContent: { redactedContent: "b3Bh+/==" } },
  { text: "I look." },
  { toolUse: { toolUseId: "tooluse_1", name: "read_file", input: { path: "a.txt" } } },
  { toolUse: { toolUseId: "tooluse_2", name: "list", input: {} } },
];

const bodyOf = (...blocks: readonly unknown[]) => ({
  output: { message: { role: "assistant", content: blocks } },
  stopReason: "end_turn",
  usage,
  metrics: { latencyMs: 600 },
});

/** The same answer, whole. */
const whole = { ...bodyOf(...content), stopReason: "tool_use" };

const call = (tool: string, text: string, id: string) => ({ type: "call", tool, input: { text }, seal: { id } });
const counted = { input: 125, cachedRead: 100, cachedWrite: 5, output: 60, reasoning: 0 };

describe("a stream", () => {
  it("is emitted as it arrives, each part complete at its end", () => {
    expect(read(...stream)).toEqual([
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
      { type: "call-start", index: 3, tool: "read_file", id: "tooluse_1" },
      { type: "call-delta", index: 3, text: '{"path":' },
      { type: "call-delta", index: 3, text: ' "a.txt"}' },
      { type: "part-end", index: 3, part: call("read_file", '{"path": "a.txt"}', "tooluse_1") },
      { type: "call-start", index: 4, tool: "list", id: "tooluse_2" },
      { type: "part-end", index: 4, part: call("list", "", "tooluse_2") },
      { type: "usage", usage: counted },
      { type: "finish", reason: "calls", raw: "tool_use" },
    ]);
  });

  it("that is cut before its stop has no finish, and no part that did not end", () => {
    for (let cut = 0; cut < stream.length - 1; cut++) {
      const before = stream.slice(0, cut);
      const ended = before.filter(({ name }) => name === "contentBlockStop").length;
      const { parts, finish } = collectResponse(read(...before));
      expect({ cut, finish, parts: parts.length }).toEqual({ cut, finish: undefined, parts: ended });
    }
  });

  it("is finished by its counts, or by its end if they never come", () => {
    const { step, end } = decode.open(undefined as never);
    const before = [opened, ...said("Hi"), why("end_turn")].flatMap((frame) => step(frame));
    expect(only("finish", before)).toEqual([]);
    expect(end()).toEqual([{ type: "finish", reason: "stop", raw: "end_turn" }]);
    expect(step(metadata)).toEqual([
      { type: "usage", usage: counted },
      { type: "finish", reason: "stop", raw: "end_turn" },
    ]);
    expect(end()).toEqual([]);
  });

  it("may count before it stops", () => {
    const { step } = decode.open(undefined as never);
    const events = [opened, ...said("Hi"), metadata, why("end_turn")].flatMap((frame) => step(frame));
    expect(events.slice(-2)).toEqual([
      { type: "usage", usage: counted },
      { type: "finish", reason: "stop", raw: "end_turn" },
    ]);
  });

  it("may name what a block does not hold, as null", () => {
    const events = read(
      opened,
      delta(0, { text: null, toolUse: null, reasoningContent: { text: "Hm.", signature: null } }),
      stop(0),
      start(1, { image: null, toolUse: { toolUseId: "tooluse_1", name: "list" } }),
      stop(1),
      why("tool_use"),
      metadata,
    );
    expect(collectResponse(events).parts).toEqual([{ type: "thinking", text: "Hm." }, call("list", "", "tooluse_1")]);
  });

  it("says nothing after its end but that something came", () => {
    const events = read(opened, ...said("Hi"), why("end_turn"), metadata, metadata, words(1, "More"));
    expect(events.slice(events.findIndex(({ type }) => type === "finish") + 1)).toEqual([
      { type: "skipped", what: "metadata after the end" },
      { type: "skipped", what: "contentBlockDelta after the end" },
    ]);
  });

  it("leaves out blocks in which nothing is said, with or without a piece", () => {
    const events = read(
      opened,
      words(0, ""),
      stop(0),
      stop(1),
      thought(2, { text: "Hm." }),
      stop(2),
      words(3, "Hi"),
      stop(3),
    );
    expect(only("part-end", events)).toEqual([
      { type: "part-end", index: 0, part: { type: "thinking", text: "Hm." } },
      { type: "part-end", index: 1, part: { type: "text", text: "Hi" } },
    ]);
  });

  it("may announce text, and may leave blocks open until it ends", () => {
    const events = read(
      opened,
      start(0, {}),
      words(0, "a"),
      start(1, use("tooluse_1", "list")),
      json(1, "{}"),
      start(2, { text: "" }),
      words(2, "b"),
      words(0, "c"),
      why("tool_use"),
      metadata,
    );
    expect(collectResponse(events)).toMatchObject({
      parts: [{ type: "text", text: "ac" }, call("list", "{}", "tooluse_1"), { type: "text", text: "b" }],
      finish: "calls",
    });
  });

  it("may repeat itself without harm", () => {
    const calls = start(0, use("tooluse_1", "list"));
    const events = read(
      opened,
      opened,
      calls,
      calls,
      json(0, "{}"),
      stop(0),
      stop(0),
      why("tool_use"),
      why("end_turn"),
      metadata,
    );
    expect(collectResponse(events)).toMatchObject({
      parts: [call("list", "{}", "tooluse_1")],
      finish: "calls",
      raw: "tool_use",
    });
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "messageStart, said twice",
      "block 0, begun twice",
      "block 0, ended twice",
      "messageStop, said twice",
    ]);
  });

  it("passes over what the service's own tools do: their calls are not ours to make", () => {
    const events = read(
      opened,
      start(0, use("tooluse_s", "nova_code_interpreter", { type: "server_tool_use" })),
      json(0, '{"snippet":"1+1"}'),
      stop(0),
      start(1, { toolResult: { toolUseId: "tooluse_s", type: "nova_code_interpreter_result", status: "success" } }),
      delta(1, { toolResult: [{ json: { stdOut: "2" } }] }),
      stop(1),
      start(2, use("tooluse_1", "answer", { type: "tool_use" })),
      json(2, '{"n":2}'),
      stop(2),
      words(3, "It is 2."),
      delta(3, { citation: { title: "x" } }),
      stop(3),
      named("somethingNew", {}),
      why("tool_use"),
      metadata,
    );
    expect(collectResponse(events).parts).toEqual([
      call("answer", '{"n":2}', "tooluse_1"),
      { type: "text", text: "It is 2." },
    ]);
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "server_tool_use block",
      "toolResult block",
      "citation",
      "somethingNew frame",
    ]);
  });

  it("joins bytes that come in pieces, each with its own padding", () => {
    const events = read(
      opened,
      thought(0, { redactedContent: btoa("one") }),
      thought(0, { redactedContent: btoa("two!") }),
      thought(0, { redactedContent: btoa("three") }),
      stop(0),
      start(1, { image: { format: "jpeg" } }),
      delta(1, { image: { source: { bytes: btoa("a") } } }),
      delta(1, { image: { source: { bytes: btoa("bc") } } }),
      stop(1),
      why("end_turn"),
      metadata,
    );
    expect(collectResponse(events).parts).toEqual([
      { type: "thinking", text: "", seal: { encrypted: btoa("onetwo!three") } },
      { type: "file", mimeType: "image/jpeg", data: btoa("abc") },
    ]);
  });

  it("names the model a router chose", () => {
    const routed = named("metadata", { usage, trace: { promptRouter: { invokedModelId: "arn:aws:bedrock:::nova" } } });
    expect(only("response-start", read(opened, ...said("Hi"), why("end_turn"), routed))).toEqual([
      { type: "response-start", model: "arn:aws:bedrock:::nova" },
    ]);
  });
});

describe("the end of an answer", () => {
  it.each([
    ["end_turn", "stop"],
    ["stop_sequence", "stop"],
    ["max_tokens", "length"],
    ["model_context_window_exceeded", "context"],
    ["guardrail_intervened", "filtered"],
    ["content_filtered", "filtered"],
    ["malformed_model_output", "malformed"],
    ["malformed_tool_use", "malformed"],
    ["toString", "other"],
  ])("by %s is %s", (raw, reason) => {
    expect(only("finish", read(opened, ...said("Hi"), why(raw), metadata))).toEqual([{ type: "finish", reason, raw }]);
  });

  it.each([["end_turn"], ["tool_use"]])("with a call is a wait for its result, also by %s", (raw) => {
    const frames = [opened, start(0, use("tooluse_1", "list")), stop(0), why(raw), metadata];
    expect(only("finish", read(...frames))).toEqual([{ type: "finish", reason: "calls", raw }]);
  });

  it("needs no reason", () => {
    expect(only("finish", read(opened, ...said("Hi"), named("messageStop"), metadata))).toEqual([
      { type: "finish", reason: "stop" },
    ]);
  });
});

describe("what was used", () => {
  it.each([
    [
      { inputTokens: 7, outputTokens: 9, totalTokens: 16 },
      { input: 7, cachedRead: 0, cachedWrite: 0, output: 9, reasoning: 0 },
    ],
    [usage, counted],
    [
      { inputTokens: -7, outputTokens: "9" },
      { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 },
    ],
    ["much", undefined],
    [undefined, undefined],
  ])("is counted with what the cache held: %j", (given, expected) => {
    expect(collectResponse(read(opened, why("end_turn"), named("metadata", { usage: given })))).toEqual({
      parts: [],
      finish: "stop",
      raw: "end_turn",
      ...(expected === undefined ? {} : { usage: expected }),
    });
  });
});

describe("a stream that cannot be trusted", () => {
  it.each([
    ["a call that never began", [opened, json(0, "{}")]],
    ["a picture that never began", [opened, delta(0, { image: { source: { bytes: "YQ==" } } })]],
    ["a piece of a block that has ended", [opened, ...said("Hi"), words(0, "!")]],
    ["a block that skips a number", [opened, words(1, "Hi")]],
    ["a block without a number", [opened, named("contentBlockDelta", { delta: { text: "Hi" } })]],
    ["an end of a block that never began", [opened, stop(1)]],
    ["words in a call", [opened, start(0, use("tooluse_1", "list")), words(0, "Hi")]],
    ["thoughts in words", [opened, words(0, "Hi"), thought(0, { text: "Hm." })]],
    ["an answer in the user's name", [named("messageStart", { role: "user" })]],
    ["an end without a beginning", []],
    [
      "a thousand open blocks and more",
      [
        ...Array.from({ length: 1000 }, (_, index) => words(index, "x")),
        named("contentBlockStop", { contentBlockIndex: 1000 }),
      ],
    ],
  ])("is broken by %s, and is not finished after that", (_, frames) => {
    const events = read(...frames, why("end_turn"), metadata);
    expect([only("malformed", events).length, only("finish", events).length]).toEqual([1, 0]);
  });
});

it("says what it cannot trust", () => {
  expect([only("malformed", read(opened, json(0, "{}"))), only("malformed", read(opened, words(2, "Hi")))]).toEqual([
    [{ type: "malformed", what: "A piece of block 0, which is not open." }],
    [{ type: "malformed", what: "A piece of block 2, which is not open." }],
  ]);
});

describe("an error", () => {
  it("in the middle of a stream ends it, under the name the service gives it", () => {
    const events = read(
      opened,
      words(0, "Hi"),
      named("throttlingException", { message: "Too many requests" }),
      why("end_turn"),
    );
    expect(events.slice(1)).toEqual([
      { type: "error", error: { message: "Too many requests", code: "ThrottlingException" } },
      { type: "skipped", what: "messageStop after the end" },
    ]);
  });

  it("tells what the model behind the service said", () => {
    const data = { message: "The model failed", originalStatusCode: 529, originalMessage: "overloaded" };
    expect(only("error", read(opened, named("modelStreamErrorException", data)))).toEqual([
      {
        type: "error",
        error: {
          message: "The model failed",
          code: "ModelStreamErrorException",
          status: 529,
          reasons: ["overloaded"],
        },
      },
    ]);
  });

  it("without words still is one", () => {
    expect(only("error", read(opened, named("internalServerException")))).toEqual([
      {
        type: "error",
        error: {
          message: "The service reported internalServerException and said nothing about it.",
          code: "InternalServerException",
        },
      },
    ]);
  });

  it.each([
    [{ message: "The model is not ready." }, { message: "The model is not ready." }],
    [
      { __type: "com.amazon.coral.validate#ValidationException:http://internal/", message: "No." },
      { message: "No.", code: "ValidationException" },
    ],
    [{ Message: "User is not authorized" }, { message: "User is not authorized" }],
    [
      { __type: "UnrecognizedClientException" },
      { message: "UnrecognizedClientException", code: "UnrecognizedClientException" },
    ],
    [{ detail: "Not Found" }, { message: "Not Found" }],
    ["upstream timed out", { message: "upstream timed out" }],
    ["", undefined],
    [{}, undefined],
    [null, undefined],
    [whole, undefined],
  ])("in a body is read: %j", (body, expected) => {
    expect(decode.parseError(body)).toEqual(expected);
  });
});

/** Arguments as a server would write them that gives an object. */
const compact = (input: { readonly text: string } | { readonly value: unknown }) =>
  "text" in input && input.text !== "" ? { text: JSON.stringify(JSON.parse(input.text)) } : input;

describe("a whole answer", () => {
  const answer = (body: unknown) => collectResponse(eventsOf(decode, decode.frames(body)));

  it("is the same answer as the stream of it", () => {
    const { parts, ...rest } = collectResponse(read(...stream));
    const streamed = parts.map((part) => (part.type === "call" ? { ...part, input: compact(part.input) } : part));
    expect(answer(whole)).toEqual({ parts: streamed, ...rest });
  });

  it("passes over what has no place in a message, and keeps every word and picture", () => {
    const events = eventsOf(
      decode,
      decode.frames(
        bodyOf(
          { text: "Hi", image: null },
          { reasoningContent: { reasoningText: { text: "Hm." } } },
          { reasoningContent: { reasoningText: "Bare." } },
          { reasoningContent: { text: "Flat.", signature: "c2ln" } },
          { citationsContent: { content: [{ text: "One." }, { text: "Two." }], citations: [{ title: "x" }] } },
          { toolUse: { toolUseId: "tooluse_s", name: "search", input: {}, type: "server_tool_use" } },
          { toolResult: { toolUseId: "tooluse_s", content: [] } },
          { image: { format: "webp", source: { bytes: "YWJj" } } },
          { document: { name: "x" } },
          null,
          7,
        ),
      ),
    );
    expect(collectResponse(events).parts).toEqual([
      { type: "text", text: "Hi" },
      { type: "thinking", text: "Hm." },
      { type: "thinking", text: "Bare." },
      { type: "thinking", text: "Flat.", seal: { signature: "c2ln" } },
      { type: "text", text: "One." },
      { type: "text", text: "Two." },
      { type: "file", mimeType: "image/webp", data: "YWJj" },
    ]);
    expect(only("skipped", events).map(({ what }) => what)).toEqual([
      "citation",
      "citation",
      "server_tool_use block",
      "toolResult block",
      "document block",
    ]);
    expect(only("malformed", events)).toEqual([]);
  });

  it("that is none has no finish", () => {
    for (const body of [{}, [], null, "x", 7, { output: {} }, { output: { message: { content: "Hi" } } }])
      expect(answer(body).finish).toBeUndefined();
  });

  it("that is an error is a problem", () => {
    expect(eventsOf(decode, decode.frames({ message: "Try later." }))).toEqual([
      { type: "error", error: { message: "Try later." } },
    ]);
  });
});

describe("an answer that goes back to Bedrock", () => {
  const from = { provider: "bedrock", model: "anthropic.claude-sonnet-5" };
  const dialect: BedrockDialect = {
    thinking: "adaptive",
    signatures: true,
    plainKeys: true,
    status: true,
    toolChoice: "all",
    sampling: true,
    cachePoints: "all",
  };
  const target: Target = {
    ...from,
    ids: { name: "bedrock", legal: /^[\w-]{1,64}$/, project: (ordinal) => `tooluse_p${ordinal}` },
    toolName: /^[\w-]{1,64}$/,
    media: { result: {}, errorResult: {}, user: {}, model: {} },
    thinking: { form: "signed", readers: [], bound: false },
    order: { userFirst: true, userLast: true, alternate: false, bridgeAfterResults: false },
  };

  it.each([
    ["streamed", stream],
    ["whole", decode.frames(whole)],
  ])("is the blocks Bedrock sent, byte for byte: %s", (_, frames) => {
    const back = encodeBack(bedrock, collectResponse(read(...frames)), { from, target, dialect });
    expect(JSON.stringify(back)).toBe(JSON.stringify(content));
  });
});

describe("whatever a server sends", () => {
  const law = { decode, ends: ["contentBlockStop", "messageStop", "metadata"] };

  it("keeps to the rules with frames lost, repeated and moved", () => {
    fc.assert(
      fc.property(arbitraryFaultyFrames(stream), (frames) => expectContract(law, frames)),
      { numRuns: runsPerTier(1500) },
    );
  });

  it("keeps to the rules with frames that make no sense", () => {
    const anything = fc.jsonValue({ maxDepth: 3 });
    const member = fc.constantFrom("text", "toolUse", "reasoningContent", "image", "toolResult", "x");
    const inner = fc.dictionary(fc.constantFrom("text", "signature", "redactedContent", "input", "source"), anything);
    const held = fc.dictionary(member, fc.oneof(inner, anything), { maxKeys: 2 });
    const fields = {
      contentBlockIndex: fc.oneof(fc.nat(3), anything),
      start: fc.oneof(held, anything),
      delta: fc.oneof(held, anything),
      stopReason: anything,
      usage: anything,
    };
    const names = [...new Set(stream.map(({ name }) => name)), "validationException", ""];
    const frame = fc
      .record({ name: fc.constantFrom(...names), data: fc.oneof(fc.record(fields, { requiredKeys: [] }), anything) })
      .map(({ name, data }) => ({ name, data: data as unknown }));
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), (frames) => expectContract(law, frames)),
      { numRuns: runsPerTier(1000) },
    );
  });

  it("reads any body and any error without a throw", () => {
    const block = fc.dictionary(
      fc.constantFrom("text", "toolUse", "reasoningContent", "citationsContent", "image"),
      fc.jsonValue(),
    );
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record({ output: fc.record({ message: fc.record({ content: fc.array(fc.oneof(fc.jsonValue(), block)) }) }) }),
    );
    fc.assert(
      fc.property(body, (any) => {
        decode.parseError(any);
        expectContract(law, decode.frames(any));
      }),
      { numRuns: runsPerTier(500) },
    );
  });
});
