import { convertRequest } from "../../providers/request.ts";
import { describe, expect, it } from "vitest";
import { call, structured, text, thinking } from "../../conversation/builders.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger } from "../../conversation/ledger.ts";
import { storeBase64 } from "../../conversation/media.ts";
import type { OutcomeStatus, Seal, Thinking } from "../../conversation/parts.ts";
import type { CallExchange, ModelStep, RenderedResult, UserStep } from "../../transcript/step.ts";
import type { Target } from "../../transcript/target.ts";
import { openaiResponses, type ResponsesDialect } from "./encode.ts";
import {
  addSnaps,
  fileAt,
  callPart,
  completion,
  conversationOf,
  everySetting,
  expectSameAgain,
  mediaIn,
  nameless,
  notesElsewhere,
  pdf,
  pictureTarget,
  png,
  requestWith,
  sharedSettings,
  shot,
  snap,
  snapExchange,
} from "../wire.cases.ts";
import type { EncodedBody, RequestSettings } from "../wire.ts";

const openai: ResponsesDialect = {
  system: "instructions",
  reasoning: "encrypted",
  callsLast: false,
  efforts: { none: "none", low: "low", medium: "medium", high: "high" },
  leastTokens: 16,
  toolChoice: ["auto", "none", "required", "named"],
  schema: "openai",
  strict: true,
  sampling: true,
  cacheKey: true,
};

const xai: ResponsesDialect = { ...openai, system: "system", strict: false, efforts: {}, leastTokens: 1 };

const deepseek: ResponsesDialect = {
  ...openai,
  reasoning: "text",
  callsLast: true,
  toolChoice: ["auto", "none"],
  leastTokens: 1,
};

const image = { type: "input_image", image_url: "data:image/png;base64,cG5n", detail: "auto" };
const words = (value: string): JsonObject => ({ type: "input_text", text: value });

/** A call that a reasoning item led to. */
const exchange = (id: string, content: RenderedResult["content"], status?: OutcomeStatus): CallExchange => ({
  ...snapExchange(id, content, status),
  seal: { id: "raw", item: "fc_1" },
});
const called = (id: string): JsonObject => ({
  type: "function_call",
  call_id: id,
  name: "snap",
  arguments: '{"n":1}',
});
const output = (id: string, value: string | readonly JsonObject[]): JsonObject => ({
  type: "function_call_output",
  call_id: id,
  output: value,
});
const said = (value: string): JsonObject => ({ role: "assistant", content: value });

const thought = (value: string, seal: Seal): Thinking => ({ ...thinking(value), seal });
const sealed = thought("hm", { item: "rs_1", encrypted: "gAAA" });
const reasoning = {
  type: "reasoning",
  id: "rs_1",
  summary: [{ type: "summary_text", text: "hm" }],
  encrypted_content: "gAAA",
};

const user = (parts: UserStep["parts"]): readonly JsonObject[] =>
  openaiResponses.encodeStep({ role: "user", parts }, openai);
const model = (parts: ModelStep["parts"], dialect = openai): readonly JsonObject[] =>
  openaiResponses.encodeStep({ role: "model", parts }, dialect);

/** The output of a call that ended this way. */
const answer = (content: RenderedResult["content"], status?: OutcomeStatus): unknown =>
  model([exchange("call_1", content, status)])[1]?.["output"];

describe("user steps", () => {
  it("write a lone text as a string", () => {
    expect(user([text("hi")])).toEqual([{ role: "user", content: "hi" }]);
  });

  it("write anything else as parts, in order", () => {
    expect(user([text("look"), png, pdf, text("both")])).toEqual([
      {
        role: "user",
        content: [
          words("look"),
          image,
          { type: "input_file", filename: "report.pdf", file_data: "data:application/pdf;base64,cG5n" },
          words("both"),
        ],
      },
    ]);
  });

  it("name a document after its id when it has no name", () => {
    expect(user([nameless])).toEqual([
      {
        role: "user",
        content: [{ type: "input_file", filename: "file-2.pdf", file_data: "data:application/pdf;base64,cG5n" }],
      },
    ]);
  });

  it("address files that are served elsewhere or were uploaded", () => {
    expect(
      user([
        fileAt(png, "https://x.test/cat.png"),
        fileAt(png, "openai-file:file-a"),
        fileAt(pdf, "https://x.test/a.pdf"),
        fileAt(pdf, "openai-file:file-b"),
      ]),
    ).toEqual([
      {
        role: "user",
        content: [
          { type: "input_image", image_url: "https://x.test/cat.png", detail: "auto" },
          { type: "input_image", file_id: "file-a", detail: "auto" },
          { type: "input_file", file_url: "https://x.test/a.pdf" },
          { type: "input_file", file_id: "file-b" },
        ],
      },
    ]);
  });
});

describe("model steps", () => {
  it("keep the order of words and calls, then give all outputs in call order", () => {
    expect(
      model([text("first"), exchange("call_1", [text("a")]), text("then"), exchange("call_2", [text("b")])]),
    ).toEqual([
      said("first"),
      called("call_1"),
      said("then"),
      called("call_2"),
      output("call_1", "a"),
      output("call_2", "b"),
    ]);
  });

  it("keep calls together behind the words where a server folds them", () => {
    expect(
      model([exchange("call_1", [text("a")]), text("then"), thinking("hm"), exchange("call_2", [text("b")])], deepseek),
    ).toEqual([
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
      said("then"),
      called("call_1"),
      called("call_2"),
      output("call_1", "a"),
      output("call_2", "b"),
    ]);
  });

  it("keep the model's own spelling of arguments", () => {
    expect(model([{ ...exchange("call_1", [text("a")]), inputText: '{ "n": 1 }' }])[0]).toEqual({
      ...called("call_1"),
      arguments: '{ "n": 1 }',
    });
  });
});

describe("results", () => {
  it("are one string: texts and values on lines of their own", () => {
    expect(answer([text("12 lines"), structured({ ok: true })])).toBe('12 lines\n{"ok":true}');
  });

  it("say that they failed, once", () => {
    expect(answer([text("ENOENT")], "error")).toBe("Error: ENOENT");
    expect(answer([text("error 404")], "interrupted")).toBe("error 404");
  });

  it("are parts, in order, where files are inside", () => {
    expect(answer([text("before"), png, structured([1]), fileAt(pdf, "https://x.test/a.pdf")])).toEqual([
      words("before"),
      image,
      words("[1]"),
      { type: "input_file", file_url: "https://x.test/a.pdf" },
    ]);
  });
});

describe("reasoning", () => {
  it("goes back sealed, before what it led to", () => {
    expect(model([sealed, exchange("call_1", [text("a")])])).toEqual([
      reasoning,
      called("call_1"),
      output("call_1", "a"),
    ]);
    expect(model([thought("", { item: "rs_1", encrypted: "gAAA" }), text("yes")])).toEqual([
      { ...reasoning, summary: [] },
      said("yes"),
    ]);
  });

  it("stays out without its seal", () => {
    expect(model([thinking("hm"), thought("so", { item: "rs_2" }), text("yes")])).toEqual([said("yes")]);
    expect(model([sealed, text("yes")], { ...openai, reasoning: "none" })).toEqual([said("yes")]);
  });

  it("goes back in plain words where a server takes those", () => {
    expect(model([thought("hm", { item: "1e97" }), text("yes")], deepseek)).toEqual([
      { type: "reasoning", id: "1e97", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
      said("yes"),
    ]);
  });

  it("gives only the item after it its id back", () => {
    const paired = { ...openai, pairedIds: true };

    expect(model([sealed, exchange("call_1", [text("a")]), exchange("call_2", [text("b")])], paired)).toEqual([
      reasoning,
      { ...called("call_1"), id: "fc_1" },
      called("call_2"),
      output("call_1", "a"),
      output("call_2", "b"),
    ]);
    // OpenAI has refused reasoning with an id whose following item has none.
    const { id: _, ...nameless } = reasoning;
    expect(model([sealed, text("yes")], paired)).toEqual([nameless, said("yes")]);
    expect(model([sealed, { ...text("yes"), seal: { item: "msg_1" } }], paired)).toEqual([
      reasoning,
      {
        type: "message",
        id: "msg_1",
        role: "assistant",
        status: "completed",
        content: [{ type: "output_text", text: "yes", annotations: [] }],
      },
    ]);
  });
});

describe("the request", () => {
  const input = [{ role: "user", content: "hi" }];
  const encode = (settings: RequestSettings, dialect = openai): EncodedBody =>
    openaiResponses.encodeRequest(input, requestWith(settings, dialect));
  const tool = { type: "function", ...snap };

  it("says all settings, and stores nothing", () => {
    const encoded = encode(everySetting);

    expect(encoded).toEqual({
      body: {
        model: "m",
        instructions: "Be brief.",
        tools: [{ ...tool, strict: false }],
        tool_choice: { type: "function", name: "snap" },
        reasoning: { effort: "high" },
        max_output_tokens: 100,
        temperature: 0.5,
        stream: true,
        prompt_cache_key: "session-1",
        store: false,
        include: ["reasoning.encrypted_content"],
        input,
      },
      notes: [],
    });
    expect(openaiResponses.extractMessages(encoded.body)).toEqual(input);
  });

  it("leaves out what was not asked for, and empty lists", () => {
    const { system: _, ...bare } = requestWith<ResponsesDialect>({}, { ...openai, reasoning: "none" });

    expect(openaiResponses.encodeRequest(input, { ...bare, tools: [] }).body).toEqual({
      model: "m",
      store: false,
      input,
    });
  });

  it("has the system text as its first message where there are no instructions", () => {
    expect(openaiResponses.encodeHead(requestWith({}, xai))).toEqual([{ role: "system", content: "Be brief." }]);
    expect(openaiResponses.encodeHead(requestWith({}, openai))).toEqual([]);
    expect(encode({}, xai).body).toEqual({
      model: "m",
      tools: [tool],
      store: false,
      include: ["reasoning.encrypted_content"],
      input,
    });
  });

  it("adapts what a server does not take, and says so", () => {
    const { body, notes } = encode(
      { maxTokens: 5, toolChoice: "required", temperature: 1, thinking: { effort: "none" } },
      { ...openai, toolChoice: ["auto"], sampling: false, efforts: { low: "low", high: "high" } },
    );

    expect(body).toEqual({
      model: "m",
      instructions: "Be brief.",
      tools: [{ ...tool, strict: false }],
      tool_choice: "auto",
      reasoning: { effort: "low" },
      max_output_tokens: 16,
      store: false,
      include: ["reasoning.encrypted_content"],
      input,
    });
    expect(notes.map(({ kind, message }) => [kind, message])).toEqual([
      ["setting-adapted", 'This API takes no tool choice "required" here; the model may choose.'],
      ["setting-adapted", 'This model knows no effort "none"; "low" stands for it.'],
      ["setting-adapted", "This API wants room for at least 16 tokens."],
      ["setting-adapted", "This model takes no temperature; it is left out."],
    ]);
  });
});

describe("reading", () => {
  const from = { provider: "openai", model: "gpt-5" };
  const read = (body: unknown) => openaiResponses.read(body, from);
  const entries = (...items: readonly unknown[]) => read(items).conversation.entries;
  const modelSaid = (...parts: readonly unknown[]) => ({ type: "model", origin: from, parts });

  it("gives back system, tools and settings", () => {
    const reading = read({
      model: "gpt-5.6",
      instructions: "One.",
      input: [
        { role: "developer", content: "Two." },
        { role: "user", content: "hi" },
      ],
      tools: [{ type: "function", name: "snap", parameters: { type: "object" }, strict: false }],
      tool_choice: { type: "function", name: "snap" },
      max_output_tokens: 90,
      temperature: 0,
      stream: false,
      reasoning: { effort: "xhigh" },
      prompt_cache_key: "k",
      store: false,
    });

    expect(reading.conversation).toEqual({
      version: 1,
      system: "One.\n\nTwo.",
      tools: [{ name: "snap", parameters: { type: "object" } }],
      entries: [{ type: "user", parts: [text("hi")] }],
      blobs: {},
    });
    expect(sharedSettings(reading)).toEqual({
      maxTokens: 90,
      temperature: 0,
      stream: false,
      toolChoice: { tool: "snap" },
      thinking: { effort: "high" },
      cache: { key: "k" },
    });
  });

  it("takes a plain text for what the user said", () => {
    expect(read({ input: "hi" }).conversation.entries).toEqual([{ type: "user", parts: [text("hi")] }]);
  });

  it("makes one message of what the model did until others had the word", () => {
    expect(
      entries(
        { role: "user", content: [words("look")] },
        reasoning,
        { type: "message", role: "assistant", id: "msg_1", content: [{ type: "output_text", text: "I look" }] },
        { type: "function_call", id: "fc_1", call_id: "a", name: "snap", arguments: "{}" },
        { type: "function_call", call_id: "b", name: "snap", arguments: "{}" },
        output("b", "second"),
        output("a", [words("first"), words("more")]),
        { role: "assistant", content: "done" },
        { role: "system", content: "Hurry." },
      ),
    ).toEqual([
      { type: "user", parts: [text("look")] },
      modelSaid(
        sealed,
        { ...text("I look"), seal: { item: "msg_1" } },
        callPart(1, { id: "a", item: "fc_1" }),
        callPart(2, { id: "b" }),
      ),
      completion(2, text("second")),
      completion(1, text("first"), text("more")),
      modelSaid(text("done")),
      { type: "notice", text: "Hurry." },
    ]);
  });

  it("reads calls with free text, and items without a type", () => {
    expect(
      entries(
        { type: "custom_tool_call", call_id: "a", name: "snap", input: "free" },
        { call_id: 7, name: "snap", arguments: { n: 1 } },
        { call_id: 7, output: "seven" },
        { type: "custom_tool_call_output", call_id: "a", output: "free too" },
      ),
    ).toEqual([
      modelSaid(
        callPart(1, { id: "a" }, { type: "parsed", value: { input: "free" } }),
        callPart(2, { id: "7" }, { type: "parsed", value: { n: 1 } }),
      ),
      completion(2, text("seven")),
      completion(1, text("free too")),
    ]);
  });

  it("reads thinking in plain words, and refusals", () => {
    expect(
      entries(
        { type: "reasoning", id: "1e97", summary: [], content: [{ type: "reasoning_text", text: "hm" }] },
        { role: "assistant", content: [{ type: "refusal", refusal: "No." }] },
      ),
    ).toEqual([modelSaid(thought("hm", { item: "1e97" }), text("No."))]);
  });

  it("stores the bytes of files and keeps addresses and ids", () => {
    const { conversation } = read([
      {
        role: "user",
        content: [
          image,
          { type: "input_image", file_id: "file-a" },
          { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" },
          { type: "input_file", file_url: "https://x.test/song.mp3" },
        ],
      },
    ]);

    expect(mediaIn(conversation)).toEqual([
      ["image", "image/png", undefined, "bytes"],
      ["image", "image/jpeg", undefined, "openai-file:file-a"],
      ["document", "application/pdf", "a.pdf", "bytes"],
      ["audio", "audio/mpeg", undefined, "https://x.test/song.mp3"],
    ]);
    expect(Object.values(conversation.blobs).toSorted()).toEqual(["JVBERi0=", "cG5n"]);
  });

  it("keeps the phase of a message, only for the model that wrote it", () => {
    const body = {
      model: "gpt-5.6",
      input: [
        { role: "user", content: "hi" },
        { role: "assistant", content: "looking", phase: "commentary" },
        { role: "user", content: "and?" },
      ],
    };

    expect(convertRequest(body, "openai/gpt-5.6", "openai/gpt-5.6").body["input"]).toEqual(body.input);
    const said = { role: "assistant", content: "looking" };
    expect(convertRequest(body, "openai/gpt-5.6", "xai").body["input"]).toContainEqual(said);
  });

  it("notes what has no place in a conversation", () => {
    const reading = read({
      input: [
        { type: "web_search_call", id: "ws_1", status: "completed" },
        { type: "item_reference", id: "msg_1" },
        { role: "assistant", content: "hi", phase: "final_answer" },
      ],
      tools: [{ type: "web_search" }],
      previous_response_id: "resp_1",
      metadata: null,
    });

    expect(notesElsewhere(reading).map(({ message }) => message)).toEqual([
      "The field /previous_response_id is not carried over.",
      'An item of type "web_search_call" at /input/0 has no counterpart elsewhere and is left out.',
      'An item of type "item_reference" at /input/1 has no counterpart elsewhere and is left out.',
      'A tool of the kind "web_search" at /tools/0 has no counterpart elsewhere and is left out.',
    ]);
  });

  it.each([
    [null],
    [7],
    ["text"],
    [{}],
    [{ input: 7 }],
    [{ input: [null, 5, [], {}, { role: {} }, { type: [] }] }],
    [{ input: [{ type: "reasoning", summary: "x" }, { type: "function_call" }, { type: "function_call_output" }] }],
    [{ tools: "x", reasoning: "high", instructions: [] }],
  ])("makes something of %j", (body) => {
    expect(() => read(body)).not.toThrow();
  });

  it("reads messages of the sister API where they stand among the items", () => {
    expect(
      entries(
        { role: "assistant", content: null, tool_calls: [{ id: "a", function: { name: "snap", arguments: "{}" } }] },
        { role: "tool", tool_call_id: "a", content: "done" },
      ),
    ).toEqual([modelSaid(callPart(1, { id: "a" })), completion(1, text("done"))]);
  });
});

describe("a body that was read", () => {
  const { media, thinking: silent } = pictureTarget;
  const target = ({ reasoning: form }: ResponsesDialect): Target => ({
    ...pictureTarget,
    media: { ...media, user: { ...media.user, document: { types: ["application/pdf"] } } },
    thinking: { ...silent, form: form === "encrypted" ? "signed" : form === "text" ? "plain" : "none" },
  });

  const eventful = (): Conversation => {
    const paper = storeBase64("JVBERi0=", { mimeType: "application/pdf" });
    const ledger = new Ledger();
    ledger.user([text("look"), shot.media]);
    const opening = [
      sealed,
      text("I look"),
      thought("more", { item: "rs_2", encrypted: "gAAB" }),
      { ...call("snap", { n: 1 }), seal: { id: "call_a", item: "fc_a" } },
    ];
    addSnaps(ledger, opening, paper.media);
    ledger.user([text("go on")]);
    return conversationOf(ledger, [shot, paper]);
  };

  it.each([
    ["openai", openai],
    ["with the ids of followers", { ...openai, pairedIds: true }],
    ["xai", xai],
    ["deepseek", deepseek],
    ["without reasoning", { ...openai, reasoning: "none", efforts: {} } as ResponsesDialect],
  ])("is written the same again: %s", (_name, dialect) => {
    const settings: RequestSettings = {
      maxTokens: 5,
      temperature: 1,
      stream: true,
      toolChoice: "required",
      thinking: { effort: "high" },
      cache: { key: "k" },
    };
    expectSameAgain(openaiResponses, eventful(), {
      target: target(dialect),
      dialect,
      settings,
      policy: { unsupportedMedia: "stub" },
      from: { provider: "p", model: "?" },
    });
  });
});
