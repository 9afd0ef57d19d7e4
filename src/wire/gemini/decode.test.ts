import { describe, expect, it } from "vitest";
import { Ledger } from "../../conversation/ledger.ts";
import type { ResponseEvent, StreamDecoder, StreamFrame, TokenUsage } from "../decode/events.ts";
import { decodeAll, eventsOf, expectRobust, partsIn, encodeBack, type DecodedCase } from "../decode/decode.cases.ts";
import { readGemini } from "./read.ts";
import { gemini } from "./encode.ts";

const open = (): StreamDecoder => gemini.decode.open({ envelope: "none", thinking: "level", sampling: true });

type Json = { readonly [key: string]: unknown };

/** A chunk in which the model says these parts. */
const chunk = (parts: readonly Json[], rest: Json = {}): Json => ({
  candidates: [{ content: { role: "model", parts }, ...rest, index: 0 }],
});
const stop: Json = { finishReason: "STOP" };
const framesOf = (...chunks: readonly unknown[]): readonly StreamFrame[] => chunks.map((data) => ({ name: "", data }));
const answer = (...chunks: readonly unknown[]): DecodedCase => decodeAll(open, framesOf(...chunks));
const events = (...chunks: readonly unknown[]): readonly ResponseEvent[] => eventsOf(open, framesOf(...chunks));

const finish = (reason: string, raw: string): Json => ({ type: "finish", reason, raw });
const stopped = finish("stop", "STOP");
const called = finish("calls", "STOP");
const skipped = (what: string): Json => ({ type: "skipped", what });

const functionCall = (call: Json, rest: Json = {}): Json => ({ functionCall: call, ...rest });
const snap = functionCall({ id: "c1", name: "snap", args: { n: 1 } }, { thoughtSignature: "s1-_=" });
const stat = functionCall({ name: "stat", args: {} });

describe("words", () => {
  it("of one kind are one part, streamed piece by piece", () => {
    const thought = { text: "Hm", thought: true };
    expect(
      events(
        chunk([thought]),
        chunk([{ text: "m.", thought: true }]),
        chunk([{ text: "Pa" }]),
        chunk([{ text: "ris." }], stop),
      ),
    ).toEqual([
      { type: "thinking-delta", index: 0, text: "Hm" },
      { type: "thinking-delta", index: 0, text: "m." },
      { type: "part-end", index: 0, part: { type: "thinking", text: "Hmm." } },
      { type: "text-delta", index: 1, text: "Pa" },
      { type: "text-delta", index: 1, text: "ris." },
      { type: "part-end", index: 1, part: { type: "text", text: "Paris." } },
      stopped,
    ]);
  });

  it("with a signature stay apart from those before and after them", () => {
    const signed = (text: string, thoughtSignature: string): Json => ({ text, thoughtSignature });
    const parts = [{ text: "a" }, signed("b", "s1"), signed("c", "s2"), { text: "d" }, { text: "e" }];
    expect(answer(chunk(parts, stop))).toEqual({
      parts: [
        { type: "text", text: "a" },
        { type: "text", text: "b", seal: { signature: "s1" } },
        { type: "text", text: "c", seal: { signature: "s2" } },
        { type: "text", text: "de" },
      ],
      events: [stopped],
    });
  });

  it("that are empty count only where they carry a signature", () => {
    const alone = { thoughtSignature: "s2", thought: true };
    expect(
      answer(chunk([{ text: "" }]), chunk([{ text: "a" }]), chunk([{ text: "", thoughtSignature: "s1" }, alone], stop))
        .parts,
    ).toEqual([
      { type: "text", text: "a" },
      { type: "text", text: "", seal: { signature: "s1" } },
      { type: "thinking", text: "", seal: { signature: "s2" } },
    ]);
  });
});

describe("calls", () => {
  it("come whole, and the reason to stop says that results are awaited", () => {
    expect(events(chunk([{ text: "Let me look." }]), chunk([snap, stat], stop))).toEqual([
      { type: "text-delta", index: 0, text: "Let me look." },
      { type: "part-end", index: 0, part: { type: "text", text: "Let me look." } },
      { type: "call-start", index: 1, tool: "snap", id: "c1" },
      {
        type: "part-end",
        index: 1,
        part: { type: "call", tool: "snap", input: { value: { n: 1 } }, seal: { id: "c1", signature: "s1-_=" } },
      },
      { type: "call-start", index: 2, tool: "stat" },
      { type: "part-end", index: 2, part: { type: "call", tool: "stat", input: { value: {} } } },
      called,
    ]);
  });

  it("may have no id, an empty one or a number, no arguments, or no name", () => {
    const asked = [{ id: "", name: "a" }, { id: 7, name: "b", args: {} }, { args: { n: 1 } }].map((call) =>
      functionCall(call),
    );
    expect(answer(chunk(asked, stop)).parts).toEqual([
      { type: "call", tool: "a", input: { value: undefined } },
      { type: "call", tool: "b", input: { value: {} }, seal: { id: "7" } },
      { type: "call", tool: "", input: { value: { n: 1 } } },
    ]);
  });

  const piece = (jsonPath: string, value: Json, goesOn = false): Json => ({
    jsonPath,
    ...value,
    ...(goesOn ? { willContinue: true } : {}),
  });
  const pieces = (...partialArgs: readonly Json[]): Json => functionCall({ partialArgs, willContinue: true });
  const named = functionCall({ id: "c1", name: "book", willContinue: true }, { thoughtSignature: "s1" });
  const done = functionCall({});

  it("are put together where arguments come in pieces", () => {
    const [first, ...rest] = [
      chunk([named]),
      chunk([pieces(piece("$.city", { stringValue: "Bos" }, true))]),
      chunk([pieces(piece("$.city", { stringValue: "ton" }, true), piece("$.city", { stringValue: "" }))]),
      chunk([
        pieces(
          piece("$.stops[0].at", { numberValue: 9.5 }),
          piece("$.stops[1].at", { nullValue: "NULL_VALUE" }),
          piece("$['the \\'way\\''][\"a.b\"]", { boolValue: false }),
          piece("$.__proto__.x", { stringValue: "y" }),
        ),
      ]),
      chunk([done], stop),
    ];
    const told = events(first, ...rest);
    expect(told.flatMap((event) => (event.type === "call-delta" ? [event.text] : []))).toEqual([
      "Bos",
      "ton",
      "9.5",
      "null",
      "false",
      "y",
    ]);
    const value: unknown = JSON.parse(
      `{"city":"Boston","stops":[{"at":9.5},{"at":null}],"the 'way'":{"a.b":false},"__proto__":{"x":"y"}}`,
    );
    expect(partsIn(told)).toEqual([
      { type: "call", tool: "book", input: { value }, seal: { id: "c1", signature: "s1" } },
    ]);
    expect(told.at(-1)).toEqual(called);
  });

  it("end with the last piece too, and the empty call after it says nothing new", () => {
    const last = functionCall({ partialArgs: [piece("$.n", { numberValue: 1 })] });
    expect(answer(chunk([named]), chunk([last]), chunk([done, stat], stop))).toEqual({
      parts: [
        { type: "call", tool: "book", input: { value: { n: 1 } }, seal: { id: "c1", signature: "s1" } },
        { type: "call", tool: "stat", input: { value: {} } },
      ],
      events: [skipped("the end of a call that is not open"), called],
    });
  });

  it("go on while a piece says so, whatever the call around it says", () => {
    const first = functionCall({ name: "book", partialArgs: [piece("$.city", { stringValue: "Bos" }, true)] });
    const last = functionCall({ partialArgs: [piece("$.city", { stringValue: "ton" })] });
    expect(answer(chunk([first]), chunk([last], stop))).toEqual({
      parts: [{ type: "call", tool: "book", input: { value: { city: "Boston" } } }],
      events: [called],
    });
  });

  it.each(["n", "$", "$..n", "$.c[1]", "$.a[5]", "$.a[0]", "$[0]", "$.a.b.c", `$${".a".repeat(65)}`])(
    "keep what was written as text where the path %s leads nowhere",
    (path) => {
      const asked = [named, pieces(piece("$.a.b", { numberValue: 1 }), piece(path, { numberValue: 2 })), done];
      expect(answer(chunk(asked, stop)).parts).toEqual([
        {
          type: "call",
          tool: "book",
          input: {
            text: JSON.stringify([
              ["$.a.b", 1],
              [path, 2],
            ]),
          },
          seal: { id: "c1", signature: "s1" },
        },
      ]);
    },
  );

  it("are not handed over where the limit cut their arguments", () => {
    const cut = pieces(piece("$.city", { stringValue: "Bos" }, true));
    expect(answer(chunk([named]), chunk([cut], { finishReason: "MAX_TOKENS" }))).toEqual({
      parts: [],
      events: [skipped("a call that was cut"), finish("length", "MAX_TOKENS")],
    });
  });

  it.each([
    ["stops inside one", chunk([named], stop), "The answer stops inside a call."],
    ["begins one inside another", chunk([named, snap], stop), "A call of snap begins inside another call."],
    [
      "continues one that never started",
      chunk([pieces(piece("$.n", { numberValue: 1 })), snap], stop),
      "A piece of a call that never began.",
    ],
  ])("are not trusted in an answer that %s", (_, data, what) => {
    expect(answer(data)).toEqual({ parts: [], events: [{ type: "malformed", what }] });
  });
});

describe("other parts", () => {
  it("are files the model made, and code that ran at the provider", () => {
    const parts = [
      { executableCode: { language: "PYTHON", code: "print(1)" }, thoughtSignature: "s1" },
      { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1\n" } },
      { codeExecutionResult: { outcome: "OUTCOME_FAILED" } },
      { inlineData: { mimeType: "image/png", data: "cG5n" } },
    ];
    expect(answer(chunk(parts, stop))).toEqual({
      parts: [
        { type: "code", language: "python", text: "print(1)" },
        { type: "code", language: "output", text: "1\n" },
        { type: "code", language: "error", text: "" },
        { type: "file", mimeType: "image/png", data: "cG5n" },
      ],
      events: [skipped("the signature of a code part"), stopped],
    });
  });

  it("are passed over by name where a message has no place for them", () => {
    const search = { toolCall: { toolType: "FILE_SEARCH" }, thoughtSignature: "s1" };
    const sketch = { inlineData: { mimeType: "image/png", data: "cG5n" }, thought: true };
    const sources = { groundingMetadata: {}, logprobsResult: {}, avgLogprobs: -1, safetyRatings: [] };
    expect(answer(chunk([{ text: "a" }, search, sketch, {}, { text: "b" }], { ...sources, ...stop }))).toEqual({
      parts: [
        { type: "text", text: "a" },
        { type: "text", text: "b" },
      ],
      events: ["toolCall", "inlineData", "(unnamed)", "groundingMetadata", "logprobsResult"]
        .map(skipped)
        .concat(stopped),
    });
  });

  it("of other candidates are passed over", () => {
    const [one] = chunk([{ text: "a" }], stop)["candidates"] as readonly Json[];
    expect(answer({ candidates: [one, { ...one, index: 1 }, { content: { parts: [{ text: "c" }] } }] })).toEqual({
      parts: [{ type: "text", text: "a" }],
      events: [skipped("another candidate"), skipped("another candidate"), stopped],
    });
  });
});

describe("the end", () => {
  it.each([
    ["MAX_TOKENS", "length"],
    ["SAFETY", "filtered"],
    ["RECITATION", "filtered"],
    ["IMAGE_SAFETY", "filtered"],
    ["MALFORMED_FUNCTION_CALL", "malformed"],
    ["UNEXPECTED_TOOL_CALL", "malformed"],
    ["CONTINUATION", "paused"],
    ["LANGUAGE", "other"],
    ["SOMETHING_NEW", "other"],
  ])("with the reason %s is %s, with calls or without", (raw, reason) => {
    expect(answer(chunk([snap], { finishReason: raw })).events).toEqual([finish(reason, raw)]);
    expect(answer(chunk([], { finishReason: raw })).events).toEqual([finish(reason, raw)]);
  });

  it("of a blocked prompt comes without candidates", () => {
    expect(
      answer({ promptFeedback: { blockReason: "PROHIBITED_CONTENT" }, usageMetadata: { promptTokenCount: 3 } }).events,
    ).toEqual([
      { type: "usage", usage: { input: 3, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 } },
      finish("filtered", "PROHIBITED_CONTENT"),
    ]);
  });

  it("is the answer's own, where a prompt was blocked and answered", () => {
    const promptFeedback = { blockReason: "SAFETY" };
    expect(answer({ ...chunk([{ text: "a" }], stop), promptFeedback }).events).toEqual([stopped]);
  });

  it("waits for what is said after the reason to stop", () => {
    const usage = { input: 5, cachedRead: 0, cachedWrite: 0, output: 2, reasoning: 0 };
    expect(
      answer(chunk([{ text: "a" }], stop), chunk([{ text: "b" }], stop), {
        usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
      }),
    ).toEqual({ parts: [{ type: "text", text: "ab" }], events: [{ type: "usage", usage }, stopped] });
  });

  it("is missing where the stream was cut, and what was open is not a part", () => {
    const frames = framesOf(
      chunk([{ text: "Let me" }]),
      chunk([{ text: " look." }]),
      chunk([snap]),
      chunk([stat]),
      chunk([{ text: "and" }], stop),
    );
    const prefixes = frames.map((_, length) => eventsOf(open, frames.slice(0, length)));
    expect(prefixes.map((told) => told.filter(({ type }) => type === "finish"))).toEqual([[], [], [], [], []]);
    expect(prefixes.map((told) => partsIn(told).map((part) => (part.type === "call" ? part.tool : part.type)))).toEqual(
      [[], [], [], ["text", "snap"], ["text", "snap", "stat"]],
    );
  });
});

describe("a reason written as a number", () => {
  it.each([
    [1, "stop", "STOP"],
    [2, "length", "MAX_TOKENS"],
    [3, "filtered", "SAFETY"],
    [17, "other", "OTHER"],
  ] as const)("ends the answer: %i", (number, reason, raw) => {
    expect(answer(chunk([{ text: "hi" }], { finishReason: number })).events.at(-1)).toEqual(finish(reason, raw));
  });
});

describe("events beside the content", () => {
  it("is who answers, once", () => {
    const who = { modelVersion: "gemini-3.8-flash", responseId: "r1" };
    expect(
      answer(
        { ...chunk([]), modelVersion: "gemini-3.8-flash" },
        { ...chunk([]), ...who },
        { ...chunk([], stop), ...who },
      ).events,
    ).toEqual([
      { type: "response-start", model: "gemini-3.8-flash" },
      { type: "response-start", model: "gemini-3.8-flash", id: "r1" },
      stopped,
    ]);
  });

  const usageOf = (usageMetadata: Json): TokenUsage | undefined => {
    const [first] = answer({ usageMetadata }).events;
    return first?.type === "usage" ? first.usage : undefined;
  };

  it("is what the tokens were spent on, thoughts and tools at the provider included", () => {
    expect(
      usageOf({
        promptTokenCount: 100,
        cachedContentTokenCount: 40,
        toolUsePromptTokenCount: 20,
        candidatesTokenCount: 30,
        thoughtsTokenCount: 12,
        promptTokensDetails: [
          { modality: "TEXT", tokenCount: 60 },
          { modality: "IMAGE", tokenCount: 40 },
          { modality: "MODALITY_UNSPECIFIED", tokenCount: 1 },
        ],
        toolUsePromptTokensDetails: [{ modality: "TEXT", tokenCount: 20 }],
      }),
    ).toEqual({
      input: 120,
      cachedRead: 40,
      cachedWrite: 0,
      output: 42,
      reasoning: 12,
      toolUse: 20,
      inputBy: { text: 80, image: 40 },
    });
  });

  it("counts nothing that is no number", () => {
    expect(usageOf({ promptTokenCount: "12", candidatesTokenCount: 3, thoughtsTokenCount: -4 })).toEqual({
      input: 0,
      cachedRead: 0,
      cachedWrite: 0,
      output: 3,
      reasoning: 0,
    });
    expect(usageOf({ promptTokenCount: "12" })).toBeUndefined();
  });

  it("are unknown frames", () => {
    expect(answer({ novelty: 1 }, "text", null, [], chunk([], stop)).events).toEqual([
      skipped("a frame with novelty"),
      skipped("a frame with (unnamed)"),
      skipped("a frame with (unnamed)"),
      skipped("a frame with (unnamed)"),
      stopped,
    ]);
  });
});

describe("a stream that goes wrong", () => {
  const quota = {
    error: {
      code: 429,
      message: "You exceeded your current quota. Please retry in 35.2s.",
      status: "RESOURCE_EXHAUSTED",
      details: [
        {
          "@type": "type.googleapis.com/google.rpc.QuotaFailure",
          violations: [{ quotaId: "RequestsPerDay-FreeTier" }],
        },
        { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "RATE_LIMIT_EXCEEDED" },
        { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "34.07s" },
      ],
    },
  };
  const apiError = {
    message: "You exceeded your current quota. Please retry in 35.2s.",
    code: "RESOURCE_EXHAUSTED",
    status: 429,
    retryAfter: 34_070,
    reasons: ["RequestsPerDay-FreeTier", "RATE_LIMIT_EXCEEDED"],
  };

  it("reports the error in place of the rest", () => {
    expect(answer(chunk([{ text: "a" }]), quota, chunk([{ text: "b" }], stop))).toEqual({
      parts: [],
      events: [{ type: "error", error: apiError }, skipped("a frame after the end")],
    });
  });

  it("reads the same error in a body, alone or in a list", () => {
    expect(gemini.decode.parseError(quota)).toEqual(apiError);
    expect(gemini.decode.parseError([quota])).toEqual(apiError);
    expect(decodeAll(open, gemini.decode.frames([quota])).events).toEqual([{ type: "error", error: apiError }]);
    expect(gemini.decode.parseError(chunk([{ text: "a" }], stop))).toBeUndefined();
  });

  it("fails if it has another role", () => {
    const foreign = { candidates: [{ content: { role: "user", parts: [snap] }, finishReason: "STOP" }] };
    expect(answer(foreign)).toEqual({
      parts: [],
      events: [{ type: "malformed", what: "The answer is in the role user." }],
    });
  });

  it("never makes the decoder throw or emit a call the model did not make", () => {
    expectRobust(
      open,
      framesOf(
        { ...chunk([{ text: "Hm", thought: true }]), modelVersion: "gemini-3.8-flash" },
        chunk([{ text: "a", thoughtSignature: "s" }, snap]),
        { response: chunk([stat, { inlineData: { mimeType: "image/png", data: "cG5n" } }]) },
        {
          ...chunk([{ text: "b" }], stop),
          usageMetadata: { promptTokenCount: 5, promptTokensDetails: [{ modality: "TEXT", tokenCount: 5 }] },
        },
      ),
    );
  });

  it("never makes the decoder throw on pieces of arguments", () => {
    const book = { jsonPath: "$.a[0].b", stringValue: "c", willContinue: true };
    const asked = functionCall({
      name: "book",
      partialArgs: [book, { ...book, willContinue: false }],
      willContinue: true,
    });
    expectRobust(open, framesOf(chunk([asked, functionCall({})], stop), quota));
  });
});

describe("an answer", () => {
  const said = [
    { text: "Hm.", thought: true },
    { text: "Here" },
    { text: " goes.", thoughtSignature: "s0/+" },
    snap,
    stat,
    { text: "", thoughtSignature: "s2==" },
  ];
  const body = {
    ...chunk(said, stop),
    modelVersion: "m",
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 9 },
  };

  it("reads the same whole, streamed, and in the envelope of Code Assist", () => {
    const whole = decodeAll(open, gemini.decode.frames(body));
    const streamed = said.map((part, at) =>
      at === said.length - 1 ? { ...body, ...chunk([part], stop) } : chunk([part]),
    );
    expect(whole.events.at(-1)).toEqual(called);
    expect(answer(...streamed)).toEqual(whole);
    expect(answer(...streamed.map((response, at) => ({ response, traceId: String(at) })))).toEqual(whole);
    expect(decodeAll(open, gemini.decode.frames(streamed))).toEqual(whole);
  });

  it("holds the parts the reader finds in the same content", () => {
    const origin = { provider: "google", model: "gemini-3.6-flash" };
    const ledger = new Ledger();
    const parts = decodeAll(open, gemini.decode.frames(body)).parts.filter((part) => part.type !== "file");
    ledger.model(origin, parts);
    const { candidates } = body as unknown as { candidates: readonly { content: unknown }[] };
    expect(readGemini({ contents: [candidates[0]?.content] }, origin).conversation.entries).toEqual(ledger.entries);
  });

  it("goes back to its model as it came, signatures where they were", () => {
    const { parts } = decodeAll(open, gemini.decode.frames(body));
    const [, model] = encodeBack("google/gemini-3.6-flash", parts)["contents"] as readonly unknown[];
    const [, ...shown] = said;
    const withId = shown.map((part) => (part === stat ? functionCall({ id: "call_2", name: "stat", args: {} }) : part));
    expect(JSON.stringify(model)).toBe(JSON.stringify({ role: "model", parts: withId }));
  });
});
