import { describe, expect, it } from "vitest";
import { call, structured, text, thinking } from "../../conversation/builders.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger } from "../../conversation/ledger.ts";
import { storeBase64 } from "../../conversation/media.ts";
import type { OutcomeStatus } from "../../conversation/parts.ts";
import type { MediaFile, ModelStep, RenderedResult, UserStep } from "../../transcript/step.ts";
import type { Target } from "../../transcript/target.ts";
import { openaiChat, type ChatDialect } from "./encode.ts";
import {
  addSnaps,
  fileAt,
  callPart,
  completion,
  conversationOf,
  encodeMarked,
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

const openai: ChatDialect = {
  system: "developer",
  reasoning: "none",
  emptyContent: "null",
  resultNames: false,
  textLists: true,
  parts: "openai",
  maxTokens: "max_completion_tokens",
  leastTokens: 1,
  toolChoice: ["auto", "none", "required", "named"],
  schema: "openai",
  strict: true,
  sampling: true,
  streamOptions: true,
  thinking: { field: "reasoning_effort", efforts: { low: "low", medium: "medium", high: "high" } },
  effortWithTools: "any",
  cacheKey: true,
  cacheMarks: false,
  ends: "done",
  repeatsText: false,
};

const kimi: ChatDialect = {
  ...openai,
  system: "system",
  reasoning: "reasoning_content",
  emptyContent: "omitted",
  maxTokens: "max_tokens",
  toolChoice: ["auto", "none"],
  schema: "kimi",
  strict: false,
  thinking: { field: "thinking" },
};

const mistral: ChatDialect = {
  ...openai,
  system: "system",
  reasoning: "thinking_chunk",
  emptyContent: "omitted",
  parts: "mistral",
  schema: "mistral",
  strict: false,
  streamOptions: false,
};

const openrouter: ChatDialect = { ...openai, reasoning: "reasoning_details", cacheMarks: true };

const wav: MediaFile = { ...png, kind: "audio", mimeType: "audio/x-wav", id: "file-3" };
const film: MediaFile = { ...png, kind: "video", mimeType: "video/mp4", id: "file-4" };

const image = { type: "image_url", image_url: { url: "data:image/png;base64,cG5n" } };
const words = (value: string): JsonObject => ({ type: "text", text: value });

const called = (id: string, args = '{"n":1}'): JsonObject => ({
  id,
  type: "function",
  function: { name: "snap", arguments: args },
});

const user = (parts: UserStep["parts"], dialect = openai): readonly JsonObject[] =>
  openaiChat.encodeStep({ role: "user", parts }, dialect);
const model = (parts: ModelStep["parts"], dialect = openai): readonly JsonObject[] =>
  openaiChat.encodeStep({ role: "model", parts }, dialect);

/** The content of the tool message of a call that ended this way. */
const answer = (content: RenderedResult["content"], status?: OutcomeStatus): unknown =>
  model([snapExchange("call_1", content, status)])[1]?.["content"];

describe("user steps", () => {
  it("write a lone text as a string", () => {
    expect(user([text("hi")])).toEqual([{ role: "user", content: "hi" }]);
  });

  it("write anything else as parts, in order", () => {
    expect(user([text("look"), png, text("and this"), pdf])).toEqual([
      {
        role: "user",
        content: [
          words("look"),
          image,
          words("and this"),
          { type: "file", file: { filename: "report.pdf", file_data: "data:application/pdf;base64,cG5n" } },
        ],
      },
    ]);
  });

  it("join several texts where a server wants a string", () => {
    expect(user([text("one"), text("two")], { ...openai, textLists: false })).toEqual([
      { role: "user", content: "one\n\ntwo" },
    ]);
  });

  it("name a document after its id when it has no name", () => {
    expect(user([nameless])).toEqual([
      {
        role: "user",
        content: [{ type: "file", file: { filename: "file-2.pdf", file_data: "data:application/pdf;base64,cG5n" } }],
      },
    ]);
  });

  it("address files that are served elsewhere or were uploaded", () => {
    expect(user([fileAt(png, "https://x.test/cat.png"), fileAt(pdf, "openai-file:file-abc")])).toEqual([
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "https://x.test/cat.png" } },
          { type: "file", file: { file_id: "file-abc" } },
        ],
      },
    ]);
  });

  it("write sound by its short format and film by its address", () => {
    expect(user([wav, { ...wav, mimeType: "audio/mpeg" }, film])).toEqual([
      {
        role: "user",
        content: [
          { type: "input_audio", input_audio: { data: "cG5n", format: "wav" } },
          { type: "input_audio", input_audio: { data: "cG5n", format: "mp3" } },
          { type: "video_url", video_url: { url: "data:video/mp4;base64,cG5n" } },
        ],
      },
    ]);
  });

  it("write documents, uploads and sound the flat way for Mistral", () => {
    expect(user([pdf, fileAt(nameless, "https://x.test/a.pdf"), fileAt(pdf, "mistral-file:f1"), wav], mistral)).toEqual(
      [
        {
          role: "user",
          content: [
            { type: "document_url", document_url: "data:application/pdf;base64,cG5n", document_name: "report.pdf" },
            { type: "document_url", document_url: "https://x.test/a.pdf" },
            { type: "file", file_id: "f1" },
            { type: "input_audio", input_audio: "cG5n" },
          ],
        },
      ],
    );
  });
});

describe("model steps", () => {
  it("join several texts", () => {
    expect(model([text("one"), text("two")])).toEqual([{ role: "assistant", content: "one\n\ntwo" }]);
  });

  it("put words into the content and calls into tool_calls, all results right behind", () => {
    expect(
      model([text("first"), snapExchange("call_1", [text("a")]), text("then"), snapExchange("call_2", [text("b")])]),
    ).toEqual([
      { role: "assistant", content: "first\n\nthen", tool_calls: [called("call_1"), called("call_2")] },
      { role: "tool", tool_call_id: "call_1", content: "a" },
      { role: "tool", tool_call_id: "call_2", content: "b" },
    ]);
  });

  it("keep the model's own spelling of arguments", () => {
    const [said] = model([{ ...snapExchange("call_1", [text("a")]), inputText: '{ "n": 1 }' }]);
    expect(said).toEqual({ role: "assistant", content: null, tool_calls: [called("call_1", '{ "n": 1 }')] });
  });

  it("say nothing in the way a server takes it", () => {
    const silent = (silence: ChatDialect["emptyContent"]): unknown =>
      model([snapExchange("call_1", [text("a")])], { ...openai, emptyContent: silence })[0];

    expect(silent("null")).toEqual({ role: "assistant", content: null, tool_calls: [called("call_1")] });
    expect(silent("empty")).toEqual({ role: "assistant", content: "", tool_calls: [called("call_1")] });
    expect(silent("omitted")).toEqual({ role: "assistant", tool_calls: [called("call_1")] });
  });

  it("show a file of the model between its words", () => {
    expect(model([text("see"), png, text("nice?")])).toEqual([
      { role: "assistant", content: [words("see"), image, words("nice?")] },
    ]);
  });
});

describe("results", () => {
  it("are one string: texts and values on lines of their own", () => {
    expect(answer([text("12 lines"), structured({ ok: true }), structured("s")])).toBe('12 lines\n{"ok":true}\n"s"');
  });

  it("say that they failed, once", () => {
    expect(answer([text("ENOENT"), text("a.txt")], "error")).toBe("Error: ENOENT\na.txt");
    expect(answer([structured({ code: 2 })], "cancelled")).toBe('Error: {"code":2}');
    expect(answer([text("ERROR 404")], "interrupted")).toBe("ERROR 404");
    expect(answer([text("Error: in the log")])).toBe("Error: in the log");
  });

  it("name their tool where the server wants that", () => {
    expect(model([snapExchange("call_1", [text("a")])], { ...mistral, resultNames: true })[1]).toEqual({
      role: "tool",
      tool_call_id: "call_1",
      name: "snap",
      content: "a",
    });
  });

  it("are parts, in order, where files are inside", () => {
    expect(answer([text("before"), png, structured([1])])).toEqual([words("before"), image, words("[1]")]);
  });

  it("say that they failed before the first part", () => {
    expect(answer([text("half"), png], "error")).toEqual([words("Error: half"), image]);
    expect(answer([png, text("half")], "error")).toEqual([words("Error:"), image, words("half")]);
  });
});

describe("reasoning", () => {
  const thought = [thinking("hm"), text("yes"), thinking("so"), snapExchange("call_1", [text("a")])];
  const said = (reasoning: ChatDialect["reasoning"]): unknown => model(thought, { ...openai, reasoning })[0];

  it("stands in the field the server reads, or nowhere", () => {
    const rest = { role: "assistant", content: "yes", tool_calls: [called("call_1")] };

    expect(said("none")).toEqual(rest);
    expect(said("reasoning_content")).toEqual({ ...rest, reasoning_content: "hm\n\nso" });
    expect(said("reasoning")).toEqual({ ...rest, reasoning: "hm\n\nso" });
  });

  it("leads the content where it is a chunk of it", () => {
    const sealed = { ...thinking("hm"), seal: { signature: "sig" } };

    expect(model([text("yes"), sealed, snapExchange("call_1", [text("a")])], mistral)[0]).toEqual({
      role: "assistant",
      content: [{ type: "thinking", thinking: [words("hm")], signature: "sig" }, words("yes")],
      tool_calls: [called("call_1")],
    });
  });

  it("goes back to a gateway exactly as it came, and only then", () => {
    const details = [{ type: "reasoning.text", text: "hm", signature: "sig", index: 0 }];

    expect(model([{ ...thinking("hm"), seal: { details } }, thinking("bare"), text("yes")], openrouter)).toEqual([
      { role: "assistant", content: "yes", reasoning_details: details },
    ]);
    expect(model([{ ...thinking(""), seal: { details: [] } }, text("yes")], openrouter)).toEqual([
      { role: "assistant", content: "yes", reasoning_details: [] },
    ]);
  });

  it("may be empty where a server only wants it to be there", () => {
    expect(model([thinking(""), text("yes")], kimi)).toEqual([
      { role: "assistant", content: "yes", reasoning_content: "" },
    ]);
  });
});

describe("the request", () => {
  const messages = [{ role: "user", content: "hi" }];
  const encode = (settings: RequestSettings, dialect = openai): EncodedBody =>
    openaiChat.encodeRequest(messages, requestWith(settings, dialect));

  it("has the system text as its first message, in the role the model knows", () => {
    const head = (system: ChatDialect["system"]): unknown =>
      openaiChat.encodeHead(requestWith({}, { ...openai, system }));

    expect(head("developer")).toEqual([{ role: "developer", content: "Be brief." }]);
    expect(head("user")).toEqual([{ role: "user", content: "Be brief." }]);
    expect(openaiChat.encodeHead({ ...requestWith({}, openai), system: " " })).toEqual([]);
  });

  it("says all settings in OpenAI's words", () => {
    expect(encode(everySetting)).toEqual({
      body: {
        model: "m",
        tools: [{ type: "function", function: { ...snap, strict: false } }],
        tool_choice: { type: "function", function: { name: "snap" } },
        reasoning_effort: "high",
        max_completion_tokens: 100,
        temperature: 0.5,
        stream: true,
        stream_options: { include_usage: true },
        prompt_cache_key: "session-1",
        messages,
      },
      notes: [],
    });
  });

  it("leaves out what was not asked for, and empty lists", () => {
    expect(openaiChat.encodeRequest(messages, { ...requestWith({ toolChoice: "auto" }, openai), tools: [] })).toEqual({
      body: { model: "m", messages },
      notes: [],
    });
  });

  it("adapts what a server does not take, and says so", () => {
    const { body, notes } = encode(
      { toolChoice: "required", thinking: { effort: "none" }, temperature: 1, stream: true },
      { ...kimi, sampling: false, streamOptions: false, extraFields: { tool_stream: true } },
    );

    expect(body).toEqual({
      model: "m",
      tools: [{ type: "function", function: snap }],
      tool_choice: "auto",
      thinking: { type: "disabled" },
      stream: true,
      tool_stream: true,
      messages,
    });
    expect(notes.map(({ kind, message }) => [kind, message])).toEqual([
      ["setting-adapted", 'This API takes no tool choice "required" here; the model may choose.'],
      ["setting-adapted", "This model takes no temperature; it is left out."],
    ]);
  });

  it("does not force a tool that is not there", () => {
    expect(encode({ toolChoice: { tool: "gone" } }).body["tool_choice"]).toBe("auto");
  });

  it("asks for thinking in each server's way", () => {
    const asked = (way: ChatDialect["thinking"], effort: "none" | "low" | "high"): JsonObject => {
      const {
        model: _m,
        messages: _s,
        tools: _t,
        ...rest
      } = encode({ thinking: { effort, budget: 2000 } }, { ...openai, thinking: way }).body;
      return rest;
    };

    expect(asked({ field: "none" }, "high")).toEqual({});
    expect(asked({ field: "reasoning_effort", efforts: { none: "none", medium: "default" } }, "low")).toEqual({
      reasoning_effort: "default",
    });
    expect(asked({ field: "reasoning", efforts: { high: "xhigh" } }, "high")).toEqual({
      reasoning: { effort: "xhigh" },
    });
    expect(asked({ field: "thinking", enabled: { clear_thinking: false }, efforts: { high: "max" } }, "low")).toEqual({
      thinking: { type: "enabled", clear_thinking: false },
      reasoning_effort: "max",
    });
    expect(asked({ field: "enable_thinking" }, "high")).toEqual({ enable_thinking: true, thinking_budget: 2000 });
    expect(asked({ field: "enable_thinking" }, "none")).toEqual({ enable_thinking: false });
  });

  it("asks for no thinking beside tools where a model takes only one of them, and says so", () => {
    const effort = (way: ChatDialect["effortWithTools"], settings: RequestSettings, tools = [snap]): unknown => {
      const dialect: ChatDialect = { ...openai, effortWithTools: way };
      const { body, notes } = openaiChat.encodeRequest(messages, { ...requestWith(settings, dialect), tools });
      return [body["reasoning_effort"], notes.map(({ message }) => message)];
    };
    const hard: RequestSettings = { thinking: { effort: "high" } };
    const said = ["In Chat Completions this model thinks only without tools; it does not think here."];

    expect(effort("absent", hard)).toEqual([undefined, said]);
    expect(effort("none", hard)).toEqual(["none", said]);
    expect(effort("none", {})).toEqual(["none", []]);
    expect(effort("absent", { thinking: { effort: "none" } })).toEqual([undefined, []]);
    expect(effort("none", hard, [])).toEqual(["high", []]);
  });

  it("marks the system text and the last words for the cache, and finds the messages again", () => {
    const long = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "hi" },
      { role: "tool", tool_call_id: "call_1", content: [words("look"), image] },
    ];
    const mark = { cache_control: { type: "ephemeral" } };
    const body = encodeMarked(openaiChat, long, requestWith({ cache: { marks: true } }, openrouter));

    expect(body["messages"]).toEqual([
      { role: "system", content: [{ ...words("Be brief."), ...mark }] },
      { role: "user", content: "hi" },
      { role: "tool", tool_call_id: "call_1", content: [{ ...words("look"), ...mark }, image] },
    ]);
    expect(openaiChat.extractMessages(body)).toEqual(long);
  });
});

describe("reading", () => {
  const from = { provider: "openai-chat", model: "gpt-5" };
  const read = (body: unknown) => openaiChat.read(body, from);
  const entries = (...messages: readonly unknown[]) => read(messages).conversation.entries;
  const modelSaid = (...parts: readonly unknown[]) => ({ type: "model", origin: from, parts });

  it("gives back system, tools and settings", () => {
    const reading = read({
      model: "gpt-5.6",
      messages: [
        { role: "system", content: "One." },
        { role: "developer", content: [words("Two.")] },
        { role: "user", content: "hi" },
      ],
      tools: [{ type: "function", function: { name: "snap", parameters: { type: "object" }, strict: false } }],
      tool_choice: { type: "function", function: { name: "snap" } },
      max_tokens: 9,
      temperature: 0,
      stream: true,
      reasoning_effort: "minimal",
      prompt_cache_key: "k",
    });

    expect(reading.conversation).toEqual({
      version: 1,
      system: "One.\n\nTwo.",
      tools: [{ name: "snap", parameters: { type: "object" } }],
      entries: [{ type: "user", parts: [text("hi")] }],
      blobs: {},
    });
    expect(reading.model).toBe("gpt-5.6");
    expect(sharedSettings(reading)).toEqual({
      maxTokens: 9,
      temperature: 0,
      stream: true,
      toolChoice: { tool: "snap" },
      thinking: { effort: "low" },
      cache: { key: "k" },
    });
  });

  it("takes instructions in mid-conversation for notices", () => {
    expect(entries({ role: "user", content: "hi" }, { role: "system", content: "Hurry." })).toEqual([
      { type: "user", parts: [text("hi")] },
      { type: "notice", text: "Hurry." },
    ]);
  });

  it("reads calls in every spelling, with their results", () => {
    expect(
      entries(
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "a", type: "function", function: { name: "snap", arguments: { n: 1 } } },
            { id: 7, function: { name: "snap", arguments: "{}" } },
            { id: "c", type: "custom", custom: { name: "snap", input: "free" } },
          ],
        },
        { role: "tool", tool_call_id: 7, content: "seven" },
        { role: "user", tool_call_id: "a", content: [words("a"), words("b")] },
        { role: "tool", tool_call_id: "c", content: { ok: true } },
      ),
    ).toEqual([
      modelSaid(
        callPart(1, { id: "a" }, { type: "parsed", value: { n: 1 } }),
        callPart(2, { id: "7" }),
        callPart(3, { id: "c" }, { type: "parsed", value: { input: "free" } }),
      ),
      completion(2, text("seven")),
      completion(1, text("a"), text("b")),
      completion(3, structured({ ok: true })),
    ]);
  });

  it("reads the functions of old", () => {
    const { conversation, settings } = read({
      messages: [
        { role: "assistant", content: null, function_call: { name: "snap", arguments: "{}" } },
        { role: "function", name: "snap", content: "done" },
      ],
      functions: [{ name: "snap", parameters: { type: "object" } }],
      function_call: "auto",
    });

    expect(conversation.entries).toEqual([
      modelSaid({ type: "call", id: "hist_tool_1", tool: "snap", input: { type: "parsed", value: {}, text: "{}" } }),
      completion(1, text("done")),
    ]);
    expect(conversation.tools).toEqual([{ name: "snap", parameters: { type: "object" } }]);
    expect(settings).toEqual({ toolChoice: "auto" });
  });

  it("keeps thinking, whatever its field, and refusals as words", () => {
    const details = [
      { type: "reasoning.text", text: "hm" },
      { type: "reasoning.encrypted", data: "x" },
    ];

    expect(
      entries(
        { role: "assistant", reasoning_content: "", content: "a" },
        { role: "user", content: "b" },
        { role: "assistant", reasoning_details: details, content: "c" },
        { role: "user", content: "d" },
        {
          role: "assistant",
          content: [{ type: "thinking", thinking: [words("so")], signature: "sig" }, words("e")],
          refusal: "No.",
        },
      ),
    ).toEqual([
      modelSaid(thinking(""), text("a")),
      { type: "user", parts: [text("b")] },
      modelSaid({ ...thinking("hm"), seal: { details } }, text("c")),
      { type: "user", parts: [text("d")] },
      modelSaid({ ...thinking("so"), seal: { signature: "sig" } }, text("e"), text("No.")),
    ]);
  });

  it("stores the bytes of files and keeps addresses and ids", () => {
    const { conversation } = read([
      {
        role: "user",
        content: [
          image,
          { type: "image_url", image_url: "https://x.test/cat" },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0=" } },
          { type: "file", file: { file_id: "file-abc" } },
          { type: "document_url", document_url: "https://x.test/b.pdf", document_name: "b" },
          { type: "input_audio", input_audio: { data: "UklGRg==", format: "wav" } },
          { type: "input_audio", input_audio: "UklGRg==" },
          { type: "video_url", video_url: { url: "https://x.test/film.webm" } },
        ],
      },
    ]);

    expect(mediaIn(conversation)).toEqual([
      ["image", "image/png", undefined, "bytes"],
      ["image", "image/jpeg", undefined, "https://x.test/cat"],
      ["document", "application/pdf", "a.pdf", "bytes"],
      ["document", "application/pdf", undefined, "openai-file:file-abc"],
      ["document", "application/pdf", "b", "https://x.test/b.pdf"],
      ["audio", "audio/wav", undefined, "bytes"],
      ["audio", "audio/wav", undefined, "bytes"],
      ["video", "video/webm", undefined, "https://x.test/film.webm"],
    ]);
    expect(Object.values(conversation.blobs).toSorted()).toEqual(["JVBERi0=", "UklGRg==", "cG5n"]);
  });

  it("notes what has no place in a conversation", () => {
    const reading = read({
      messages: [
        { role: "user", content: [{ type: "hologram" }, words("hi")], name: "Ann" },
        { role: "critic", content: "boo" },
        { role: "assistant", content: "la", audio: { id: "audio_1" } },
      ],
      tools: [{ type: "web_search" }],
      logit_bias: {},
    });

    expect(notesElsewhere(reading).map(({ kind, message }) => [kind, message])).toEqual([
      [
        "unknown-part",
        'A part of type "hologram" at /messages/0/content/0 has no counterpart elsewhere and is left out.',
      ],
      ["unread-field", "The field /messages/0/name is not carried over."],
      ["unknown-part", 'A message with the role "critic" at /messages/1 has no counterpart elsewhere and is left out.'],
      ["unknown-part", "Spoken words at /messages/2/audio has no counterpart elsewhere and is left out."],
      ["unknown-part", 'A tool of the kind "web_search" at /tools/0 has no counterpart elsewhere and is left out.'],
      ["unread-field", "The field /logit_bias is not carried over."],
    ]);
  });

  it.each([null, undefined, 7, "text", [], {}, { messages: 7 }, { messages: [null, 5, [], {}] }, { tools: "x" }])(
    "makes something of %j",
    (body) => {
      expect(() => read(body)).not.toThrow();
    },
  );

  it("reads broken messages as far as they go", () => {
    expect(
      entries(
        "hi",
        { content: "no role" },
        { role: "user", content: { text: "no type" } },
        { role: "assistant", content: 5, tool_calls: { id: "a", function: { name: "snap" } } },
        { role: "tool", content: null },
      ),
    ).toEqual([
      { type: "user", parts: [text("hi")] },
      { type: "user", parts: [text("no role")] },
      { type: "user", parts: [text("no type")] },
      modelSaid(text("5"), callPart(1, { id: "a" }, { type: "parsed", value: {} })),
      completion(1),
    ]);
  });
});

describe("a body that was read", () => {
  const { media, thinking: silent, order } = pictureTarget;
  const user = {
    ...media.user,
    document: { types: ["application/pdf"], uri: ["https:"] },
    audio: { types: ["audio/wav", "audio/mpeg"] },
  };
  const target = ({ reasoning }: ChatDialect): Target => ({
    ...pictureTarget,
    media: { ...media, user },
    thinking: {
      ...silent,
      form: reasoning === "none" ? "none" : "plain",
      ...(reasoning === "reasoning_content" ? { backfill: { text: "", on: "calls" } } : {}),
    },
    order: { ...order, userLast: true },
  });

  const eventful = (): Conversation => {
    const tape = storeBase64("UklGRg==", { mimeType: "audio/wav" });
    const details = [{ type: "reasoning.text", text: "hm" }];
    const ledger = new Ledger();
    ledger.user([text("look"), shot.media, tape.media]);
    addSnaps(ledger, [{ ...thinking("hm"), seal: { details } }, text("I look"), call("snap", { n: 1 }, "call_a")]);
    return conversationOf(ledger, [shot, tape]);
  };

  it.each([
    ["openai", openai],
    ["kimi", kimi],
    ["mistral", mistral],
    ["openrouter", openrouter],
    ["without a system role", { ...openai, system: "user", textLists: false, emptyContent: "empty" } as ChatDialect],
  ])("is written the same again: %s", (_name, dialect) => {
    expectSameAgain(openaiChat, eventful(), {
      target: target(dialect),
      dialect,
      settings: {
        maxTokens: 50,
        temperature: 1,
        stream: true,
        toolChoice: "required",
        thinking: { effort: "high" },
        cache: { marks: true, key: "k" },
      },
      policy: { unsupportedMedia: "stub" },
      from: { provider: "p", model: "?" },
    });
  });
});
