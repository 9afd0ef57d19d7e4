import { describe, expect, it } from "vitest";
import { eventsOf, expectRobust, partsIn, encodeBack } from "../decode/decode.cases.ts";
import type { StreamFrame } from "../decode/events.ts";
import { decodeFrames, chunk, doneLine, openDecoder, decodeBody, decodeDeltas, decodeChat } from "./decode.cases.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const openai = "openai-chat/gpt-5.6";
const deepseek = "deepseek/deepseek-v4-flash";
const mistral = "mistral/mistral-large-latest";
const openrouter = "openrouter/anthropic/claude-sonnet-5";
const minimax = "minimax/MiniMax-M2.5";
const local = "local/qwen3";

const picture = { type: "image_url", image_url: { url: "data:image/png;base64,cG5n" } };
const text = (words: string) => ({ type: "text", text: words });
const thinking = (words: string, seal?: object) => ({ type: "thinking", text: words, ...(seal && { seal }) });
const thinkingChunk = (words: string, signature?: string) => ({
  type: "thinking",
  thinking: [{ type: "text", text: words }],
  ...(signature !== undefined && { signature }),
});
const whole = (id: string, name: string, args = "{}", index = 0) => ({
  index,
  id,
  type: "function",
  function: { name, arguments: args },
});

describe("words", () => {
  it("is emitted in deltas, and as one part before the end", () => {
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
    const frames = [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "He" }, null, { obfuscation: "x8" }),
      chunk({ content: "llo" }),
      chunk({}, "stop"),
      { name: "", data: { id: "c1", model: "m", choices: [], usage } },
      doneLine,
    ];

    expect(decodeChat(openai, ...frames)).toEqual([
      { type: "response-start", model: "m", id: "c1" },
      { type: "text-delta", index: 0, text: "He" },
      { type: "text-delta", index: 0, text: "llo" },
      { type: "usage", usage: { input: 9, cachedRead: 0, cachedWrite: 0, output: 2, reasoning: 0 } },
      { type: "part-end", index: 0, part: text("Hello") },
      { type: "finish", reason: "stop", raw: "stop" },
    ]);
  });

  it("may come as a list, whose references are passed over", () => {
    const reference = { type: "reference", reference_ids: [1] };
    const { parts, events: rest } = decodeDeltas(
      mistral,
      { content: [text("a"), reference] },
      { content: [{ text: "b" }, "c"] },
    );

    expect(parts).toEqual([text("abc")]);
    expect(rest).toContainEqual({ type: "skipped", what: "a part of type reference" });
  });

  it("end where a call begins, and go on in a place of their own", () => {
    const { parts } = decodeDeltas(openai, { content: "a" }, { tool_calls: [whole("x", "look")] }, { content: "b" });

    expect(parts).toEqual([
      text("a"),
      { type: "call", tool: "look", input: { text: "{}" }, seal: { id: "x" } },
      text("b"),
    ]);
  });

  it("of a refusal are a part, and the reason says so", () => {
    const { parts, events: rest } = decodeDeltas(openai, { content: null, refusal: "I " }, { refusal: "cannot." });

    expect(parts).toEqual([text("I cannot.")]);
    expect(rest.at(-1)).toEqual({ type: "finish", reason: "refused", raw: "stop" });
    expect(decodeDeltas(mistral, { content: [text("Hm."), { type: "refusal", refusal: "No." }] }).parts).toEqual([
      text("Hm."),
      text("No."),
    ]);
  });

  it("are not doubled by a server that says all of it again", () => {
    const again = { index: 0, finish_reason: "stop", message: { role: "assistant", content: "Hi" } };

    expect(decodeFrames(minimax, chunk({ content: "Hi" }), { name: "", data: { choices: [again] } })).toEqual({
      parts: [text("Hi")],
      events: [
        { type: "response-start", model: "m", id: "c1" },
        { type: "skipped", what: "the message once more" },
        { type: "finish", reason: "stop", raw: "stop" },
      ],
    });
  });

  it("are added up whether pieces are new or restate what was said", () => {
    const long = "a sentence that is long enough";

    expect(decodeDeltas(minimax, { content: "Hi" }, { content: "Hi the" }, { content: "Hi there" }).parts).toEqual([
      text("Hi there"),
    ]);
    expect(decodeDeltas(minimax, { content: long }, { content: long }, { content: "!" }).parts).toEqual([
      text(`${long}!`),
    ]);
    expect(decodeDeltas(minimax, { content: "ha" }, { content: "ha" }, { content: "!" }).parts).toEqual([
      text("haha!"),
    ]);
    expect(decodeDeltas(openai, { content: "ha" }, { content: "ha!" }).parts).toEqual([text("haha!")]);
  });
});

describe("reasoning", () => {
  const summary = { type: "reasoning.summary", summary: "hm" };

  it.each([
    ["reasoning_content", deepseek, { reasoning_content: "h" }, { reasoning_content: "m", content: null }, undefined],
    ["reasoning", local, { reasoning: "h", content: "" }, { reasoning: "m" }, undefined],
    ["both, with the same words", local, { reasoning: "hm", reasoning_content: "hm" }, { reasoning: "" }, undefined],
    ["thinking chunks", mistral, { content: [thinkingChunk("h")] }, { content: [thinkingChunk("m")] }, undefined],
    ["details", openrouter, { reasoning_details: [summary] }, { reasoning: null }, { details: [summary] }],
  ])("is read under the name %s", (_name, model, first, second, seal) => {
    expect(decodeDeltas(model, first, second, { content: "So." }).parts).toEqual([thinking("hm", seal), text("So.")]);
  });

  it("ends where words begin, and begins again after them", () => {
    const frames = [{ reasoning_content: "a" }, { content: "b" }, { reasoning_content: "c" }].map((delta) =>
      chunk(delta),
    );

    expect(decodeChat(deepseek, ...frames).slice(1)).toEqual([
      { type: "thinking-delta", index: 0, text: "a" },
      { type: "part-end", index: 0, part: thinking("a") },
      { type: "text-delta", index: 1, text: "b" },
      { type: "part-end", index: 1, part: text("b") },
      { type: "thinking-delta", index: 2, text: "c" },
    ]);
  });

  it("is kept when it is empty, which some servers want back, but only in front", () => {
    expect(decodeDeltas(deepseek, { reasoning_content: "" }, { content: "a", reasoning_content: "" }).parts).toEqual([
      thinking(""),
      text("a"),
    ]);
    expect(decodeDeltas(deepseek, { content: "a" }, { content: "b", reasoning_content: "" }).parts).toEqual([
      text("ab"),
    ]);
    expect(decodeDeltas(openrouter, { content: "", reasoning_details: [] }, { content: "a" }).parts).toEqual([
      thinking("", { details: [] }),
      text("a"),
    ]);
  });

  it("in signed chunks is one part for each signature", () => {
    const deltas = [
      thinkingChunk("a"),
      thinkingChunk("", "s1"),
      thinkingChunk("b", "s2"),
      { ...thinkingChunk(""), closed: true },
    ];

    expect(decodeDeltas(mistral, ...deltas.map((content) => ({ content: [content] })), { content: "c" }).parts).toEqual(
      [thinking("a", { signature: "s1" }), thinking("b", { signature: "s2" }), text("c")],
    );
  });
});

describe("reasoning details", () => {
  const format = "anthropic-claude-v1";
  const detail = (index: number, fields: object) => ({ type: "reasoning.text", ...fields, format, index });
  const details = (...items: readonly unknown[]) => ({ content: "", reasoning_details: items });

  it("are put together from their pieces, signature and all", () => {
    const deltas = [
      details(),
      details(detail(0, { text: "", signature: "" })),
      { reasoning: "Two ", ...details(detail(0, { text: "Two " })) },
      { reasoning: "files.", ...details(detail(0, { text: "files." })) },
      details(detail(0, { signature: "c2ln" })),
      { content: "I look." },
    ];

    expect(decodeDeltas(openrouter, ...deltas).parts).toEqual([
      thinking("Two files.", { details: [detail(0, { text: "Two files.", signature: "c2ln" })] }),
      text("I look."),
    ]);
  });

  it("of different indexes, types, ids, bytes and signatures stay apart", () => {
    const sent = [
      detail(0, { text: "a", signature: "s0" }),
      detail(0, { text: "b" }),
      detail(1, { text: "c", id: "r1" }),
      detail(1, { text: "d", id: "r2" }),
      { type: "reasoning.encrypted", data: "x", index: 1 },
      { type: "reasoning.encrypted", data: "y", index: 1 },
      { type: "reasoning.summary", summary: "e" },
      "f",
    ];

    expect(decodeDeltas(openrouter, ...sent.map((item) => details(item)), { content: "." }).parts[0]).toEqual(
      thinking("abcde", { details: sent }),
    );
  });

  it("without an index continue the last one", () => {
    const pieces = ["a", "b"].map((words) => details({ type: "reasoning.text", text: words }));
    const encrypted = { type: "reasoning.encrypted", data: "x" };

    expect(decodeDeltas(openrouter, ...pieces, details(encrypted), pieces[0], { content: "." }).parts[0]).toEqual(
      thinking("aba", {
        details: [{ type: "reasoning.text", text: "ab" }, encrypted, { type: "reasoning.text", text: "a" }],
      }),
    );
  });

  it("that restate what was said are added up once", () => {
    const piece = (words: string) => ({ reasoning_content: words, ...details(detail(0, { text: words })) });

    expect(decodeDeltas(minimax, piece("Two"), piece("Two files"), { content: "So." }).parts[0]).toEqual(
      thinking("Two files", { details: [detail(0, { text: "Two files" })] }),
    );
  });

  it("that come after the calls they belong to stand before them", () => {
    const late = { type: "reasoning.encrypted", data: "b3Bh", id: "call_1", format: "google-gemini-v1", index: 0 };
    const { parts } = decodeDeltas(openrouter, { tool_calls: [whole("call_1", "look")] }, details(late));

    expect(parts).toEqual([
      thinking("", { details: [late] }),
      { type: "call", tool: "look", input: { text: "{}" }, seal: { id: "call_1" } },
    ]);
  });

  it("without end, in number or depth, end the answer", () => {
    const many = Array.from({ length: 1001 }, (_, index) => detail(index, { text: "a" }));
    let deep: unknown = "deep";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const end = { type: "malformed", what: "The reasoning details have no end." };

    expect(decodeChat(openrouter, chunk(details(...many))).at(-1)).toEqual(end);
    expect(decodeChat(openrouter, chunk(details({ deep }))).at(-1)).toEqual(end);
  });
});

describe("files", () => {
  it("are parts where their bytes are there, among the words or beside them", () => {
    const file = { type: "file", mimeType: "image/png", data: "cG5n" };

    expect(decodeDeltas(openrouter, { content: "Here:" }, { images: [picture] }).parts).toEqual([text("Here:"), file]);
    expect(decodeDeltas(mistral, { content: [text("a"), picture, text("b")] }).parts).toEqual([
      text("a"),
      file,
      text("b"),
    ]);
    expect(decodeDeltas(mistral, { content: [{ ...picture, image_url: "data:;base64,cG5n" }] }).parts).toEqual([file]);
  });

  it("are passed over where they are elsewhere", () => {
    const elsewhere = { type: "image_url", image_url: { url: "https://example.com/a.png" } };

    expect(decodeDeltas(openrouter, { content: "a", images: [elsewhere] }).events).toContainEqual({
      type: "skipped",
      what: "a file without its bytes",
    });
  });
});

describe("what has no place in a message", () => {
  it("is named and passed over, with the words around it complete", () => {
    const delta = {
      content: "a",
      annotations: [{ type: "url_citation" }],
      executed_tools: [{ type: "search" }],
      audio: { id: "audio_1", transcript: "a" },
    };
    const choices = [
      { index: 0, delta, logprobs: { content: [{ token: "a" }] } },
      { index: 1, delta: { content: "not this" } },
      { delta: { content: "nor this" } },
      null,
    ];
    const { parts, events: rest } = decodeFrames(
      openai,
      { name: "", data: { choices } },
      { name: "", data: 7 },
      { name: "", data: { hello: true } },
      chunk({}, "stop"),
      doneLine,
    );

    expect(parts).toEqual([text("a")]);
    expect(rest.flatMap((event) => (event.type === "skipped" ? [event.what] : []))).toEqual([
      "logprobs",
      "annotations",
      "executed_tools",
      "audio",
      "another choice",
      "another choice",
      "a choice that is no object",
      "a frame that is no object",
      "a frame without choices",
    ]);
  });

  it("is not missed where a server only writes out every field it has", () => {
    const blank = {
      role: "",
      content: "a",
      refusal: "",
      annotations: null,
      audio: { data: "", expires_at: 0, id: "", transcript: "" },
      function_call: { name: "", arguments: "" },
      tool_calls: null,
    };
    const data = { error: {}, choices: [{ index: 0, delta: blank, logprobs: { content: null }, error: null }] };

    expect(decodeChat(openai, { name: "", data }, doneLine)).toEqual([
      { type: "text-delta", index: 0, text: "a" },
      { type: "part-end", index: 0, part: text("a") },
      { type: "finish", reason: "stop" },
    ]);
  });
});

describe("a contradiction", () => {
  it.each([
    ["someone else speaks", chunk({ role: "user", content: "a" }), "The answer speaks as user."],
    [
      "arguments have no call",
      chunk({ tool_calls: [{ index: 1, function: { arguments: "{" } }] }),
      "There are arguments for a call that never began.",
    ],
    ["the end comes first", doneLine, "The stream ended before an answer began."],
  ])("breaks the answer off: %s", (_name, frame, what) => {
    const frames = [frame, chunk({ content: "b" }), chunk({}, "stop"), doneLine];
    const after = Array.from({ length: 3 }, () => ({ type: "skipped", what: "a frame after the end" }));

    expect(decodeChat(local, ...frames).filter(({ type }) => type !== "response-start")).toEqual([
      { type: "malformed", what },
      ...after,
    ]);
  });
});

describe("the end", () => {
  const calls = { tool_calls: [whole("x", "look")] };

  it.each([
    ["stop", {}, "stop"],
    ["stop", calls, "calls"],
    ["tool_calls", calls, "calls"],
    ["function_call", calls, "calls"],
    ["tool_calls", {}, "other"],
    ["length", calls, "length"],
    ["MAX_TOKENS", {}, "length"],
    ["model_length", {}, "context"],
    ["content_filter", {}, "filtered"],
    ["sensitive", {}, "filtered"],
    ["eos_token", {}, "stop"],
    ["something new", calls, "other"],
  ])("has a reason: %s", (raw, delta, reason) => {
    const frames = [chunk({ content: "a", ...delta }, raw), doneLine];

    expect(decodeChat(openai, ...frames).at(-1)).toEqual({ type: "finish", reason, raw });
  });

  it.each([
    ["calls", calls],
    ["stop", {}],
  ])("needs no word where it is marked: %s", (reason, delta) => {
    const frames = [chunk({ content: "a", ...delta }), chunk({}, ""), chunk({}), doneLine];

    expect(decodeChat(openai, ...frames).at(-1)).toEqual({ type: "finish", reason });
  });

  it("is not reached by a stream that lacks its last line", () => {
    expect(decodeChat(openai, chunk({ content: "a" }), chunk(calls, "tool_calls")).map(({ type }) => type)).toEqual([
      "response-start",
      "text-delta",
      "part-end",
      "call-start",
      "call-delta",
    ]);
  });

  it.each([local, minimax, "cohere/command-a-03-2025", "offline/parley"])(
    "needs no last line where servers leave it out, but a word: %s",
    (model) => {
      const frames = [chunk({ content: "a" }), chunk({}, "stop")];
      const finish = { type: "finish", reason: "stop", raw: "stop" };

      expect(decodeChat(model, ...frames).at(-1)).toEqual(finish);
      expect(decodeChat(model, ...frames, doneLine).at(-1)).toEqual(finish);
      expect(decodeChat(model, chunk({ content: "a" })).at(-1)).toEqual({
        type: "text-delta",
        index: model === minimax ? 1 : 0,
        text: "a",
      });
    },
  );

  it("comes once: what follows is passed over", () => {
    const frames = [chunk({ content: "a" }, "stop"), doneLine, chunk({ content: "b" }), doneLine];
    const late = { type: "skipped", what: "a frame after the end" };

    expect(decodeChat(openai, ...frames).slice(-3)).toEqual([
      { type: "finish", reason: "stop", raw: "stop" },
      late,
      late,
    ]);
  });
});

describe("an error in a stream", () => {
  const usage = { prompt_tokens: 4, completion_tokens: 1, total_tokens: 5 };

  it.each<[string, StreamFrame, object]>([
    [
      "by name",
      { name: "error", data: { error: { message: "No tool was called.", code: "tool_use_failed", status_code: 400 } } },
      { message: "No tool was called.", code: "tool_use_failed", status: 400 },
    ],
    ["by name alone", { name: "error", data: {} }, { message: "The server reports an error and does not say which." }],
    ["as text", { name: "", data: { error: "overloaded" } }, { message: "overloaded", code: "overloaded" }],
    ["beside a choice", chunk({}, null, { error: { code: 502, message: "Gone." } }), { message: "Gone.", status: 502 }],
    [
      "within a choice",
      { name: "", data: { choices: [{ index: 0, delta: {}, finish_reason: "error", error: { message: "Gone." } }] } },
      { message: "Gone." },
    ],
    ["in a list", { name: "", data: [{ error: { message: "Gone." } }] }, { message: "Gone." }],
    [
      "with a code and no choices",
      { name: "", data: { code: "Throttling", message: "Slow." } },
      { message: "Slow.", code: "Throttling" },
    ],
    [
      "of MiniMax",
      { name: "", data: { choices: null, base_resp: { status_code: 1002, status_msg: "rate limit" } } },
      { message: "rate limit", code: "1002" },
    ],
  ])("takes the place of the rest: %s", (_name, frame, apiError) => {
    const events = decodeChat(openai, chunk({ content: "a" }), frame, chunk({}, "stop"), doneLine);

    expect(events.slice(2)).toEqual([
      { type: "error", error: apiError },
      { type: "skipped", what: "a frame after the end" },
      { type: "skipped", what: "a frame after the end" },
    ]);
  });

  it("comes after what was counted", () => {
    expect(
      decodeChat(openai, chunk({ content: "a" }), chunk({}, null, { usage, error: { message: "Gone." } })).slice(2),
    ).toEqual([
      { type: "usage", usage: { input: 4, cachedRead: 0, cachedWrite: 0, output: 1, reasoning: 0 } },
      { type: "error", error: { message: "Gone." } },
    ]);
  });

  it.each(["error", "network_error", "insufficient_system_resource"])("may be the reason to stop: %s", (raw) => {
    expect(decodeChat(openai, chunk({ content: "a" }, raw), doneLine).at(-1)).toEqual({
      type: "error",
      error: { message: `The server stopped with "${raw}".`, reasons: [raw] },
    });
  });
});

describe("a whole answer", () => {
  const usage = { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14 };
  const details = [{ type: "reasoning.text", text: "Two files.", signature: "c2ln", format: "f", index: 0 }];
  const message = {
    role: "assistant",
    content: "I look.",
    reasoning: "Two files.",
    reasoning_details: details,
    tool_calls: [whole("call_1", "look", '{ "n": 1 }'), whole("call_2", "look", '{ "n": 2 }')],
  };
  const body = { id: "c1", model: "m", choices: [{ index: 0, message, finish_reason: "tool_calls" }], usage };

  it("is the same as its stream", () => {
    const calls = message.tool_calls.flatMap((call, index) => [
      { tool_calls: [{ ...call, index, function: { ...call.function, arguments: "" } }] },
      { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(0, 4) } }] },
      { tool_calls: [{ index, function: { arguments: call.function.arguments.slice(4) } }] },
    ]);
    const { signature: _, ...unsigned } = details[0]!;
    const streamed = [
      { role: "assistant", content: "" },
      { reasoning: "Two ", reasoning_details: [{ ...unsigned, text: "Two " }] },
      { reasoning: "files.", reasoning_details: [{ ...unsigned, text: "files." }] },
      { reasoning_details: [{ ...details[0], text: "" }] },
      { content: "I " },
      { content: "look." },
      ...calls,
    ].map((delta) => chunk(delta));
    const whole = decodeBody(openrouter, body);

    expect(decodeFrames(openrouter, ...streamed, chunk({}, "tool_calls", { usage }), doneLine)).toEqual(whole);
    expect(whole.parts).toEqual([
      thinking("Two files.", { details }),
      text("I look."),
      { type: "call", tool: "look", input: { text: '{ "n": 1 }' }, seal: { id: "call_1" } },
      { type: "call", tool: "look", input: { text: '{ "n": 2 }' }, seal: { id: "call_2" } },
    ]);
  });

  it("keeps calls apart that share an id and a place", () => {
    const twins = { ...message, tool_calls: [whole("x", "look"), whole("x", "look")] };

    expect(decodeBody(openai, { choices: [{ message: twins }] }).parts.slice(-2)).toEqual([
      { type: "call", tool: "look", input: { text: "{}" }, seal: { id: "x" } },
      { type: "call", tool: "look", input: { text: "{}" }, seal: { id: "x" } },
    ]);
  });

  it("that is an error, or empty, is reported", () => {
    expect(decodeBody(openai, { error: { message: "Gone." } }).events).toEqual([
      { type: "error", error: { message: "Gone." } },
    ]);
    expect(decodeBody(openai, { hello: 1 }).events).toEqual([
      { type: "skipped", what: "a frame without choices" },
      { type: "malformed", what: "The stream ended before an answer began." },
    ]);
  });

  it.each([
    [openrouter, message],
    [minimax, message],
    [
      deepseek,
      { role: "assistant", content: "I look.", reasoning_content: "Two files.", tool_calls: message.tool_calls },
    ],
    ["groq/openai/gpt-oss-120b", { role: "assistant", reasoning: "Two files.", tool_calls: message.tool_calls }],
    ["kimi/kimi-k3", { role: "assistant", reasoning_content: "", tool_calls: [whole("functions.look:0", "look")] }],
    [
      mistral,
      {
        role: "assistant",
        content: [thinkingChunk("Two files.", "c2ln"), text("I look.")],
        tool_calls: [whole("aB3dE6gH9", "look")],
      },
    ],
    [openai, { role: "assistant", content: null, tool_calls: message.tool_calls }],
  ])("goes back as it came: %s", (model, sent) => {
    const { parts } = decodeBody(model, { choices: [{ message: sent, finish_reason: "tool_calls" }] });
    const { messages } = encodeBack(model, parts) as { messages: readonly { role: string }[] };
    const { reasoning, ...unspoken } = sent as { reasoning?: string };
    const calls = sent.tool_calls.map(({ id, type, function: called }) => ({ id, type, function: called }));
    const expected = "reasoning_details" in sent ? unspoken : { ...unspoken, ...(reasoning && { reasoning }) };

    expect(messages.find(({ role }) => role === "assistant")).toEqual({ ...expected, tool_calls: calls });
  });
});

describe("whatever arrives", () => {
  const good = [
    chunk({ role: "assistant", content: "", reasoning_details: [{ type: "reasoning.text", text: "hm", index: 0 }] }),
    chunk({ content: "Let me look." }),
    chunk({ images: [picture], refusal: "no" }),
    chunk({ tool_calls: [whole("call_1", "look", '{"n":1}')] }),
    chunk({ tool_calls: [whole("call_2", "look", '{"n":2}', 1)] }),
    chunk({}, "tool_calls", { usage: { prompt_tokens: 1, completion_tokens: 1 } }),
    doneLine,
  ];

  it.each([openai, mistral, openrouter, minimax, local])("the reader stays calm: %s", (model) => {
    expectRobust(openDecoder(model), good);
  });

  it("a cut stream has no end, and none of its calls has one", () => {
    const begun = { index: 0, id: "x", function: { name: "look", arguments: "" } };
    const pieces = ['{"a":', '{"b":1}', "}"].map((words) => ({ index: 0, function: { arguments: words } }));
    const stream = [
      chunk({ content: "a" }),
      ...[begun, ...pieces].map((piece) => chunk({ tool_calls: [piece] })),
      chunk({}, "tool_calls"),
      doneLine,
    ];

    for (let cut = 0; cut < stream.length; cut++)
      expect(partsIn(decodeChat(openai, ...stream.slice(0, cut))).filter(({ type }) => type === "call")).toEqual([]);
    expect(partsIn(decodeChat(openai, ...stream)).at(-1)).toEqual({
      type: "call",
      tool: "look",
      input: { text: '{"a":{"b":1}}' },
      seal: { id: "x" },
    });
  });

  it("the pieces told of a part are the part", () => {
    const piece = fc.record(
      {
        index: fc.constantFrom(0, 1, 7),
        id: fc.constantFrom("", "a", "b"),
        function: fc.record({ name: fc.constantFrom("", "f", "g"), arguments: fc.constantFrom("", "{", "}", "{}") }),
      },
      { requiredKeys: ["function"] },
    );
    const delta = fc.record(
      {
        content: fc.constantFrom("", "w"),
        reasoning: fc.constantFrom("", "t"),
        refusal: fc.constantFrom("", "r"),
        tool_calls: fc.array(piece, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.constantFrom(openai, openrouter), fc.array(delta, { maxLength: 12 }), (model, deltas) => {
        const events = eventsOf(openDecoder(model), [...deltas.map((item) => chunk(item)), doneLine]);
        const pieces = new Map<number, string>();
        for (const event of events) {
          if ("text" in event) pieces.set(event.index, (pieces.get(event.index) ?? "") + event.text);
          if (event.type !== "part-end" || event.part.type === "file") continue;
          const { part } = event;
          const words = part.type === "call" ? (part.input as { text: string }).text : part.text;
          expect(pieces.get(event.index) ?? "").toBe(words);
        }
      }),
      { numRuns: runsPerTier(500) },
    );
  });
});
