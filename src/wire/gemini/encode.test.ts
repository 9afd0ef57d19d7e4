import { describe, expect, it } from "vitest";
import { call, done, failed, structured, text } from "../../conversation/builders.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger } from "../../conversation/ledger.ts";
import { mediaAt, storeBase64 } from "../../conversation/media.ts";
import type { Content, Media, OutcomeStatus } from "../../conversation/parts.ts";
import type { CallExchange, MediaFile, RenderedResult, Step } from "../../transcript/step.ts";
import type { Target, ToolResponseLayout } from "../../transcript/target.ts";
import { gemini, type GeminiDialect } from "./encode.ts";
import {
  fileAt,
  blobsOf,
  expectSameAgain,
  nameless,
  notesElsewhere,
  png as plainPng,
  sharedSettings,
  snapExchange,
  write,
} from "../wire.cases.ts";
import type { EncodedBody, RequestSettings, WireRequest } from "../wire.ts";

const dialect: GeminiDialect = { envelope: "none", thinking: "level", sampling: true };
const codeAssist: GeminiDialect = {
  ...dialect,
  envelope: "code-assist",
  project: "my-project",
  userPromptId: "prompt-1",
  sessionId: "session-1",
};

const model = "gemini-3.6-flash";
const google = { provider: "google", model };

const png: MediaFile = { ...plainPng, name: "cat.png" };
const pdf: MediaFile = fileAt(nameless, "gs://bucket/report.pdf");
const inlinePng = { inlineData: { mimeType: "image/png", data: "cG5n" } };
const addressedPdf = { fileData: { mimeType: "application/pdf", fileUri: "gs://bucket/report.pdf" } };

const exchange = (content: RenderedResult["content"], status?: OutcomeStatus): CallExchange =>
  snapExchange("call_1", content, status);

const encode = (step: Step, layout?: ToolResponseLayout): readonly JsonObject[] =>
  gemini.encodeStep(step, dialect, layout);

/** The functionResponse of a call that ended this way. */
const answered = (
  content: RenderedResult["content"],
  status: OutcomeStatus = "complete",
  layout?: ToolResponseLayout,
): unknown => {
  const [, results] = encode({ role: "model", parts: [exchange(content, status)] }, layout);
  return (results as { parts: { functionResponse: { response: unknown } }[] }).parts[0]!.functionResponse;
};

const response = (value: unknown, parts?: readonly unknown[]): unknown =>
  parts === undefined
    ? { id: "call_1", name: "snap", response: value }
    : { id: "call_1", name: "snap", response: value, parts };

describe("the steps of a conversation", () => {
  it("are words and files of the user", () => {
    expect(encode({ role: "user", parts: [text("What are these?"), png, pdf] })).toEqual([
      { role: "user", parts: [{ text: "What are these?" }, inlinePng, addressedPdf] },
    ]);
  });

  it("are words and files of the model", () => {
    expect(encode({ role: "model", parts: [text("Here."), png] })).toEqual([
      { role: "model", parts: [{ text: "Here." }, inlinePng] },
    ]);
  });

  it("are a call, and its result in a content of its own", () => {
    expect(encode({ role: "model", parts: [text("Let me look."), exchange([text("page 1")])] })).toEqual([
      {
        role: "model",
        parts: [{ text: "Let me look." }, { functionCall: { id: "call_1", name: "snap", args: { n: 1 } } }],
      },
      {
        role: "user",
        parts: [{ functionResponse: { id: "call_1", name: "snap", response: { output: "page 1" } } }],
      },
    ]);
  });

  it("are a batch of calls, answered together in call order", () => {
    const second: CallExchange = {
      ...exchange([text("two")]),
      call: "hist_tool_2",
      id: "call_2",
      tool: "stat",
      input: {},
    };
    expect(encode({ role: "model", parts: [exchange([text("one")]), second] })).toEqual([
      {
        role: "model",
        parts: [
          { functionCall: { id: "call_1", name: "snap", args: { n: 1 } } },
          { functionCall: { id: "call_2", name: "stat", args: {} } },
        ],
      },
      {
        role: "user",
        parts: [
          { functionResponse: { id: "call_1", name: "snap", response: { output: "one" } } },
          { functionResponse: { id: "call_2", name: "stat", response: { output: "two" } } },
        ],
      },
    ]);
  });

  it("carry signatures beside what was signed, on an empty text too", () => {
    const signedCall: CallExchange = { ...exchange([text("ok")]), seal: { id: "raw", signature: "c2ln" } };
    const [said] = encode({
      role: "model",
      parts: [
        { type: "thinking", text: "Hm.", seal: { signature: "dGg=" } },
        { type: "text", text: "Well.", seal: { signature: "dA==" } },
        signedCall,
        { type: "text", text: "", seal: { signature: "ZW5k" } },
      ],
    });
    expect(said).toEqual({
      role: "model",
      parts: [
        { text: "Hm.", thought: true, thoughtSignature: "dGg=" },
        { text: "Well.", thoughtSignature: "dA==" },
        { functionCall: { id: "call_1", name: "snap", args: { n: 1 } }, thoughtSignature: "c2ln" },
        { text: "", thoughtSignature: "ZW5k" },
      ],
    });
  });
});

describe("a result", () => {
  it("joins its words, and lists them where values stand among them", () => {
    expect(answered([text("a"), text("b")])).toEqual(response({ output: "a\nb" }));
    expect(answered([text("a"), structured({ n: 1 }), text("b")])).toEqual(response({ output: ["a", { n: 1 }, "b"] }));
  });

  it("keeps the form of a single value", () => {
    expect(answered([structured({ n: [1, null] })])).toEqual(response({ output: { n: [1, null] } }));
    expect(answered([structured(0)])).toEqual(response({ output: 0 }));
    expect(answered([structured({ n: 1 }), png])).toEqual(response({ output: { n: 1 } }, [inlinePng]));
  });

  it("writes a blank value as JSON, which can be told from nothing", () => {
    expect(answered([structured("")])).toEqual(response({ output: '""' }));
  });

  it("holds files by bytes and by address inside, without their names", () => {
    expect(answered([text("Two."), png, pdf])).toEqual(response({ output: "Two." }, [inlinePng, addressedPdf]));
  });

  it("counts files that come without words", () => {
    expect(answered([png, pdf])).toEqual(
      response({ output: "Binary content provided (2 item(s))." }, [inlinePng, addressedPdf]),
    );
  });

  it.each(["error", "cancelled", "interrupted"] as const)("that is no answer (%s) says so under error", (status) => {
    expect(answered([text("ENOENT")], status)).toEqual(response({ error: "ENOENT" }));
    expect(answered([structured({ code: 2 })], status)).toEqual(response({ error: { code: 2 } }));
    expect(answered([structured(null)], status)).toEqual(response({ error: "null" }));
    expect(answered([png], status)).toEqual(response({ error: "Binary content provided (1 item(s))." }, [inlinePng]));
  });
});

describe("a result in the status layout", () => {
  const status = "status" as const;

  it("has words and objects apart", () => {
    expect(answered([text("a"), structured({ n: 1 }), text("b"), png], "complete", status)).toEqual(
      response({ status: "success", text_result: "a\nb", structured_result: { n: 1 } }, [inlinePng]),
    );
  });

  it("merges objects as long as nothing is overwritten, and writes the rest as words", () => {
    const content = [structured({ a: 1 }), structured({ b: 2 }), structured({ a: 3 }), structured([4])];
    expect(answered(content, "complete", status)).toEqual(
      response({ status: "success", text_result: '{"a":3}\n[4]', structured_result: { a: 1, b: 2 } }),
    );
  });

  it("names how a call ended", () => {
    expect(answered([text("Stopped.")], "cancelled", status)).toEqual(
      response({ status: "cancelled", text_result: "Stopped." }),
    );
  });
});

const contents: readonly JsonObject[] = [{ role: "user", parts: [{ text: "Hello" }] }];
const snap = { name: "snap", description: "Takes a picture.", parameters: { type: "object", properties: { n: {} } } };

const request = (over: Partial<WireRequest<GeminiDialect>> = {}): EncodedBody =>
  gemini.encodeRequest(contents, { model, tools: [], settings: {}, dialect, ...over });

describe("a request", () => {
  it("is its contents when nothing else is asked for; the model is in the URL", () => {
    expect(request()).toEqual({ body: { contents }, notes: [] });
    expect(request({ settings: { stream: true, cache: { marks: true } } })).toEqual({ body: { contents }, notes: [] });
  });

  it("says everything else before the contents", () => {
    const settings: RequestSettings = {
      maxTokens: 100,
      temperature: 0.5,
      toolChoice: "auto",
      thinking: { effort: "medium" },
    };
    const { body, notes } = request({ system: "Be terse.", tools: [snap], settings });
    expect(notes).toEqual([]);
    expect(JSON.stringify(body)).toBe(
      JSON.stringify({
        systemInstruction: { parts: [{ text: "Be terse." }] },
        tools: [
          {
            functionDeclarations: [
              { name: "snap", description: "Takes a picture.", parametersJsonSchema: snap.parameters },
            ],
          },
        ],
        toolConfig: { functionCallingConfig: { mode: "AUTO" } },
        generationConfig: { maxOutputTokens: 100, temperature: 0.5, thinkingConfig: { thinkingLevel: "medium" } },
        contents,
      }),
    );
  });

  it("is wrapped for Code Assist, with the model beside it", () => {
    expect(request({ dialect: codeAssist })).toEqual({
      body: {
        model,
        project: "my-project",
        user_prompt_id: "prompt-1",
        request: { contents, session_id: "session-1" },
      },
      notes: [],
    });
    expect(request({ dialect: { ...dialect, envelope: "code-assist" } }).body).toEqual({
      model,
      request: { contents },
    });
  });

  it("gives its messages back, wrapped or not", () => {
    expect(gemini.extractMessages(request().body)).toEqual(contents);
    expect(gemini.extractMessages(request({ dialect: codeAssist }).body)).toEqual(contents);
  });

  it.each([
    ["auto", { mode: "AUTO" }],
    ["none", { mode: "NONE" }],
    ["required", { mode: "ANY" }],
    [{ tool: "snap" }, { mode: "ANY", allowedFunctionNames: ["snap"] }],
  ] as const)("chooses tools: %j", (toolChoice, config) => {
    const { body } = request({ tools: [snap], settings: { toolChoice } });
    expect(body["toolConfig"]).toEqual({ functionCallingConfig: config });
    expect(sharedSettings(gemini.read(body, google))).toEqual({ toolChoice });
    expect(request({ settings: { toolChoice } }).body).toEqual({ contents });
  });

  it("leaves out a temperature the model ignores, and says so", () => {
    expect(request({ settings: { temperature: 1 }, dialect: { ...dialect, sampling: false } })).toEqual({
      body: { contents },
      notes: [
        {
          class: "projection",
          kind: "setting-adapted",
          message: "This model takes no temperature; it is left out.",
        },
      ],
    });
  });
});

describe("the thinking setting", () => {
  const config = (thinking: RequestSettings["thinking"], over: Partial<GeminiDialect>): unknown => {
    const { body, notes } = request({ settings: { thinking: thinking! }, dialect: { ...dialect, ...over } });
    const { thinkingConfig } = (body["generationConfig"] ?? {}) as JsonObject;
    return notes.length === 0 ? thinkingConfig : [thinkingConfig, notes[0]!.message];
  };
  const pro = { thinking: "budget", budget: { least: 128, most: 32_768, off: false } } as const;
  const cannotStop = "This model cannot stop thinking; it thinks as little as it can.";

  it("is a level where the model knows levels", () => {
    expect(config({ effort: "high", budget: 5000 }, { thinking: "level" })).toEqual({ thinkingLevel: "high" });
    expect(config({ effort: "none" }, { thinking: "level" })).toEqual([{ thinkingLevel: "low" }, cannotStop]);
  });

  it("is a budget where the model knows budgets", () => {
    expect(config({ effort: "low" }, { thinking: "budget" })).toEqual({ thinkingBudget: 1024 });
    expect(config({ effort: "high", budget: 5000 }, { thinking: "budget" })).toEqual({ thinkingBudget: 5000 });
    expect(config({ effort: "none" }, { thinking: "budget" })).toEqual({ thinkingBudget: 0 });
  });

  it("stays within the budgets of the model", () => {
    expect(config({ effort: "none" }, pro)).toEqual([{ thinkingBudget: 128 }, cannotStop]);
    expect(config({ effort: "high", budget: 99_999 }, pro)).toEqual([
      { thinkingBudget: 32_768 },
      "This model takes a thinking budget from 128 to 32768; it is given 32768.",
    ]);
  });

  it("is left out where the model does not think", () => {
    expect(config({ effort: "none" }, { thinking: "none" })).toBeUndefined();
    expect(config({ effort: "low" }, { thinking: "none" })).toEqual([
      undefined,
      "This model does not think; the setting is left out.",
    ]);
  });
});

describe("a tool", () => {
  const declared = (parameters?: JsonObject): unknown => {
    const tool = parameters === undefined ? { name: "snap" } : { name: "snap", parameters };
    const { body, notes } = request({ tools: [tool] });
    const [{ functionDeclarations }] = body["tools"] as unknown as [{ functionDeclarations: readonly JsonObject[] }];
    return notes.length === 0 ? functionDeclarations[0] : [functionDeclarations[0], notes[0]!.message];
  };

  it("has no schema when it has no parameters", () => {
    expect(declared()).toEqual({ name: "snap" });
    expect(declared({})).toEqual({ name: "snap" });
    expect(declared({ type: "object", properties: {}, required: [], additionalProperties: false })).toEqual({
      name: "snap",
    });
  });

  it("keeps a schema the API takes as it is", () => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { n: { $ref: "#/$defs/n" }, minimum: { type: ["string", "null"], default: null } },
      required: ["n"],
      additionalProperties: false,
      $defs: { n: { anyOf: [{ type: "integer", minimum: 0 }, { const: null }] } },
    };
    expect(declared(schema)).toEqual({ name: "snap", parametersJsonSchema: schema });
  });

  it("has keywords mended that the API refuses, and says so", () => {
    const schema = {
      description: null,
      properties: { n: { type: "integer", minimum: "1", maximum: "many", nullable: "yes" }, gone: null },
      required: "n",
    };
    expect(declared(schema)).toEqual([
      {
        name: "snap",
        parametersJsonSchema: {
          properties: { n: { type: "integer", minimum: 1 }, gone: {} },
          required: ["n"],
          type: "object",
        },
      },
      "The parameters of snap: malformed keywords were mended; the top became an object.",
    ]);
  });
});

/** Reads contents into entries and note messages. */
const read = (body: unknown): { entries: Conversation["entries"]; notes: readonly string[] } => {
  const { conversation, notes } = gemini.read(body, google);
  return { entries: conversation.entries, notes: notes.map(({ message }) => message) };
};

const user = (...parts: readonly unknown[]): JsonObject => ({ role: "user", parts: parts as JsonObject[] });
const byModel = (...parts: readonly unknown[]): JsonObject => ({ role: "model", parts: parts as JsonObject[] });
const asked = (name = "snap", id?: string): JsonObject => ({
  functionCall: id === undefined ? { name, args: {} } : { id, name, args: {} },
});
const result = (value: unknown, id?: string): unknown => ({
  functionResponse: { ...(id === undefined ? {} : { id }), name: "snap", response: value },
});

const image = storeBase64("cG5n", { mimeType: "image/png" });
const report = mediaAt("gs://bucket/report.pdf", { mimeType: "application/pdf" });

describe("reading contents", () => {
  it("finds words, files, thoughts, calls and results", () => {
    const { entries, notes } = read({
      contents: [
        user({ text: "Look." }, inlinePng, addressedPdf),
        byModel(
          { text: "Hm.", thought: true },
          { text: "Well.", thoughtSignature: "dA==" },
          { functionCall: { id: "c1", name: "snap", args: { n: 1 } }, thoughtSignature: "c2ln" },
        ),
        user({
          functionResponse: { id: "c1", name: "snap", response: { output: "Done." }, parts: [inlinePng] },
        }),
      ],
    });
    expect(notes).toEqual([]);
    expect(entries).toEqual([
      { type: "user", parts: [text("Look."), image.media, report] },
      {
        type: "model",
        origin: google,
        parts: [
          { type: "thinking", text: "Hm." },
          { type: "text", text: "Well.", seal: { signature: "dA==" } },
          {
            type: "call",
            id: "hist_tool_1",
            tool: "snap",
            input: { type: "parsed", value: { n: 1 } },
            seal: { id: "c1", signature: "c2ln" },
          },
        ],
      },
      { type: "completion", call: "hist_tool_1", tool: "snap", outcome: done("Done.", image.media) },
    ]);
  });

  it("reads both spellings alike", () => {
    const camel = {
      systemInstruction: { parts: [{ text: "Be terse." }] },
      contents: [
        user(inlinePng, addressedPdf),
        byModel({ functionCall: { id: "c1", name: "snap", args: {} }, thoughtSignature: "c2ln" }),
        user({ functionResponse: { id: "c1", name: "snap", response: { output: "ok" }, parts: [inlinePng] } }),
      ],
      tools: [{ functionDeclarations: [{ name: "snap", parametersJsonSchema: snap.parameters }] }],
      toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["snap"] } },
      generationConfig: { maxOutputTokens: 5, thinkingConfig: { thinkingBudget: 0 } },
    };
    const snake: unknown = JSON.parse(
      JSON.stringify(camel).replaceAll(/"([a-z]+[A-Z][A-Za-z]*)":/g, (_, key: string) =>
        JSON.stringify(key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)).concat(":"),
      ),
    );
    expect(snake).toHaveProperty("system_instruction");
    expect(gemini.read(snake, google)).toEqual(gemini.read(camel, google));
    expect(gemini.read(snake, google)).toMatchObject({
      conversation: { system: "Be terse.", tools: [{ name: "snap", parameters: snap.parameters }] },
      settings: { maxTokens: 5, toolChoice: { tool: "snap" }, thinking: { effort: "none" } },
      notes: [],
    });
  });

  it("unwraps the Code Assist envelope and takes the model from it", () => {
    const { body } = request({ dialect: codeAssist, system: "Be terse." });
    expect(gemini.read(body, { provider: "code-assist", model: "" })).toEqual({
      conversation: {
        version: 1,
        system: "Be terse.",
        entries: [{ type: "user", parts: [text("Hello")] }],
        blobs: {},
      },
      settings: {},
      model,
      notes: [],
    });
  });

  it("takes the model from its source when the body names none", () => {
    expect(gemini.read({ contents }, google).model).toBe(model);
    expect(gemini.read({ contents, model: "models/gemini-2.5-pro" }, google).model).toBe("gemini-2.5-pro");
  });

  it("reads bare contents, bare words, bare parts and lone objects", () => {
    const hello = [{ type: "user", parts: [text("Hello")] }];
    expect(read(contents).entries).toEqual(hello);
    expect(read({ contents: "Hello" }).entries).toEqual(hello);
    expect(read({ contents: { parts: { text: "Hello" } } }).entries).toEqual(hello);
    expect(read({ contents: [{ text: "Hello" }] }).entries).toEqual(hello);
    expect(read({ contents: [{ role: "USER", parts: ["Hello"] }] }).entries).toEqual(hello);
  });

  it("reads code the provider ran, and what it printed", () => {
    const { entries } = read([
      byModel(
        { executableCode: { language: "PYTHON", code: "print(1)" } },
        { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } },
        { codeExecutionResult: { outcome: "OUTCOME_FAILED", output: "no" } },
      ),
    ]);
    expect(entries).toEqual([
      {
        type: "model",
        origin: google,
        parts: [
          { type: "code", language: "python", text: "print(1)" },
          { type: "code", language: "output", text: "1" },
          { type: "code", language: "error", text: "no" },
        ],
      },
    ]);
  });

  it.each([
    [{ output: "a" }, done("a")],
    [{ output: "" }, done()],
    [{}, done()],
    [undefined, done()],
    ["a", done("a")],
    [[1], done(structured([1]))],
    [{ output: { n: 1 } }, done(structured({ n: 1 }))],
    [{ output: null }, done(structured(null))],
    [{ output: "a", error: null }, done("a")],
    [{ output: "a", error: "b" }, failed("a", "b")],
    [{ error: "b" }, failed("b")],
    [{ error: { code: 2 } }, failed(structured({ code: 2 }))],
    [{ error: "b", code: 2 }, failed(structured({ error: "b", code: 2 }))],
    [{ return_value: 1 }, done(structured({ return_value: 1 }))],
    [{ status: "success" }, done(structured({ status: "success" }))],
    [{ status: "open", text_result: "a" }, done(structured({ status: "open", text_result: "a" }))],
    [{ status: "success", text_result: "a", structured_result: { n: 1 } }, done("a", structured({ n: 1 }))],
    [
      { status: "cancelled", text_result: "a" },
      { status: "cancelled", content: [text("a")] },
    ],
  ])("reads the response %j", (value, outcome) => {
    const { entries } = read([byModel(asked()), user(result(value))]);
    expect(entries[1]).toEqual({ type: "completion", call: "hist_tool_1", tool: "snap", outcome });
  });

  it("does not take the count of files for words of the tool", () => {
    const [, completion] = read([
      byModel(asked()),
      user({
        functionResponse: {
          name: "snap",
          response: { output: "Binary content provided (1 item(s))." },
          parts: [inlinePng],
        },
      }),
    ]).entries;
    expect(completion).toMatchObject({ outcome: done(image.media) });
  });
});

describe("reading what is broken", () => {
  it("pairs results without ids with their calls, and numbers as ids with numbers", () => {
    const { entries, notes } = read([
      byModel(asked("snap"), asked("stat"), { functionCall: { id: 7, name: "snap", args: '{"n":1}' } }),
      user(
        { functionResponse: { name: "stat", response: { output: "2" } } },
        { functionResponse: { id: 7, name: "snap", response: { output: "3" } } },
        { functionResponse: { name: "snap", response: { output: "1" } } },
      ),
    ]);
    expect(entries.slice(1)).toEqual([
      { type: "completion", call: "hist_tool_2", tool: "stat", outcome: done("2") },
      { type: "completion", call: "hist_tool_3", tool: "snap", outcome: done("3") },
      { type: "completion", call: "hist_tool_1", tool: "snap", outcome: done("1") },
    ]);
    expect(notes).toEqual(["A call of stat has no id; it keeps an identity of its own."]);
  });

  it("keeps the order of the parts of one content, whatever their role", () => {
    const { entries } = read([
      user({ text: "before" }, asked("snap", "c1"), result({ output: "ok" }, "c1"), { text: "after" }, inlinePng),
    ]);
    expect(entries).toMatchObject([
      { type: "user", parts: [text("before")] },
      { type: "model", parts: [{ type: "call", tool: "snap" }] },
      { type: "completion", outcome: done("ok") },
      { type: "user", parts: [text("after"), image.media] },
    ]);
  });

  it("reads results the model is said to have given", () => {
    const { entries } = read([byModel(asked("snap", "c1"), result({ output: "ok" }, "c1"), { text: "Done." })]);
    expect(entries).toMatchObject([
      { type: "model", parts: [{ type: "call" }] },
      { type: "completion", outcome: done("ok") },
      { type: "model", parts: [text("Done.")] },
    ]);
  });

  it("keeps the words of an odd role and notes the role", () => {
    expect(read([{ role: "narrator", parts: [{ text: "Meanwhile" }] }])).toEqual({
      entries: [{ type: "user", parts: [text("Meanwhile")] }],
      notes: ['The role "narrator" at /contents/0/role has no counterpart elsewhere and is left out.'],
    });
  });

  it("takes leading system contents for the system text, and later ones for notices", () => {
    const { conversation } = gemini.read(
      {
        systemInstruction: "One.",
        contents: [
          { role: "system", parts: [{ text: "Two." }] },
          ...contents,
          { role: "system", parts: [{ text: "Three." }] },
        ],
      },
      google,
    );
    expect(conversation).toMatchObject({
      system: "One.\n\nTwo.",
      entries: [
        { type: "user", parts: [text("Hello")] },
        { type: "notice", text: "Three." },
      ],
    });
  });

  it("stores data addresses as bytes, and guesses the type of an address", () => {
    const parts = [
      { fileData: { fileUri: "data:image/png;base64,cG5n" } },
      { inlineData: { data: "data:image/png;base64,cG5n" } },
      { fileData: { fileUri: "https://example.com/a.png" } },
      { fileData: { fileUri: "https://www.youtube.com/watch?v=1" } },
    ];
    const [entry] = read([user(...parts)]).entries;
    expect(entry).toEqual({
      type: "user",
      parts: [
        image.media,
        image.media,
        mediaAt("https://example.com/a.png", { mimeType: "image/png" }),
        mediaAt("https://www.youtube.com/watch?v=1", { mimeType: "video/mp4" }),
      ],
    });
  });

  it("names everything it leaves out", () => {
    const reading = gemini.read(
      {
        contents: [
          user({ fileData: { fileUri: "https://youtu.be/1" }, videoMetadata: { fps: 1 } }, {}),
          byModel({ toolCall: { id: "1" } }, { text: "ok" }),
        ],
        tools: [{ googleSearch: {} }, { functionDeclarations: [{ description: "nameless" }] }],
        toolConfig: { functionCallingConfig: { mode: "VALIDATED", allowedFunctionNames: ["a", "b"] } },
        generationConfig: { topP: 1, thinkingConfig: { includeThoughts: true } },
        safetySettings: [],
      },
      google,
    );
    expect(notesElsewhere(reading).map(({ message }) => message)).toEqual([
      "The field /contents/0/parts/0/videoMetadata is not carried over.",
      "A part with nothing in it at /contents/0/parts/1 has no counterpart elsewhere and is left out.",
      "A part with toolCall at /contents/1/parts/0 has no counterpart elsewhere and is left out.",
      "A function without a name at /tools/1/functionDeclarations/0 has no counterpart elsewhere and is left out.",
      'A tool of the kind "googleSearch" at /tools/0 has no counterpart elsewhere and is left out.',
      "The field /safetySettings is not carried over.",
      "The field /generationConfig/thinkingConfig/includeThoughts is not carried over.",
      "The field /generationConfig/topP is not carried over.",
      "The field /toolConfig/functionCallingConfig/allowedFunctionNames is not carried over.",
      "The field /toolConfig/functionCallingConfig/mode is not carried over.",
    ]);
  });

  it.each([
    [undefined],
    [null],
    [5],
    ["words"],
    [[]],
    [{}],
    [[null, 5, [], {}]],
    [{ contents: [{ role: 5, parts: 5 }, { parts: [null, 5, { text: null }, { functionCall: [] }] }] }],
    [{ contents: [{ role: "model", parts: [{ functionCall: {} }, { functionResponse: { parts: [null] } }] }] }],
    [{ contents: 5, tools: "snap", toolConfig: [], generationConfig: "none", systemInstruction: 5 }],
    [{ request: { contents: null } }],
  ])("never throws: %j", (body) => {
    expect(() => gemini.read(body, google)).not.toThrow();
  });

  it("reads parameters in Google's own subset as JSON Schema", () => {
    const { conversation } = gemini.read(
      {
        contents,
        tools: [
          {
            functionDeclarations: [
              {
                name: "snap",
                parameters: {
                  type: "OBJECT",
                  properties: {
                    n: { type: "INTEGER", nullable: true, minimum: 0 },
                    list: { type: "ARRAY", min_items: "1", items: { type: "STRING", example: "a" } },
                    either: { any_of: [{ type: "NUMBER" }, { type: "BOOLEAN" }] },
                  },
                  required: ["n"],
                  propertyOrdering: ["n", "list"],
                },
              },
            ],
          },
        ],
      },
      google,
    );
    expect(conversation.tools).toEqual([
      {
        name: "snap",
        parameters: {
          type: "object",
          properties: {
            n: { type: ["integer", "null"], minimum: 0 },
            list: { type: "array", minItems: 1, items: { type: "string", examples: ["a"] } },
            either: { anyOf: [{ type: "number" }, { type: "boolean" }] },
          },
          required: ["n"],
        },
      },
    ]);
  });
});

describe("there and back", () => {
  const target: Target = {
    ...google,
    ids: {
      name: "gemini",
      legal: /^[A-Za-z0-9_-]{1,64}$/,
      project: (ordinal, _tool, attempt) => `call_${ordinal}_${attempt}`,
    },
    toolName: /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/,
    media: {
      result: { image: { types: ["image/png"] }, document: { types: ["application/pdf"], uri: ["gs://"] } },
      errorResult: { image: { types: ["image/png"] } },
      user: {
        image: { types: ["image/"] },
        document: { types: ["application/pdf"], uri: ["gs://"] },
        audio: { types: ["audio/"] },
      },
      model: {},
    },
    thinking: { form: "seal", readers: [], bound: false, filler: "skip_thought_signature_validator" },
    order: { userFirst: true, userLast: true, alternate: false, bridgeAfterResults: false },
  };

  const song = storeBase64("c29uZw==", { mimeType: "audio/wav" });
  const outcomes: readonly (readonly Content[])[] = [
    [text("words")],
    [text("a"), structured({ n: 1 }), image.media],
    [structured({ deep: [{ "": null }] })],
    [structured("")],
    [structured(null)],
    [structured({}), structured({ n: 1 }), structured({ n: 2 }), structured(3)],
    [image.media, report],
    [song.media],
    [],
  ];

  const conversation = (): Conversation => {
    const ledger = new Ledger();
    ledger.user([text("Listen."), song.media]);
    for (const status of ["complete", "error", "cancelled"] as const) {
      const calls = ledger.model(
        google,
        outcomes.map((_, index) => {
          const made = call("snap", { index }, `${status}-${index}`);
          return index === 1 ? { ...made, seal: { ...made.seal, signature: "c2ln" } } : made;
        }),
      );
      calls.forEach(({ id, tool }, index) => ledger.complete(id, tool, { status, content: outcomes[index]! }));
    }
    ledger.model({ provider: "anthropic", model: "claude" }, [text("Elsewhere."), call("other.tool", {}, "toolu_1")]);
    ledger.notice("The run was stopped.");
    ledger.model(google, [
      { type: "thinking", text: "Hm." },
      { type: "text", text: "", seal: { signature: "ZW5k" } },
    ]);
    ledger.user([text("Go on.")]);
    return {
      version: 1,
      system: "Be terse.",
      tools: [snap, { name: "bare" }],
      entries: ledger.entries,
      blobs: blobsOf([image, song]),
    };
  };

  const asks: readonly RequestSettings[] = [
    {},
    { maxTokens: 10, temperature: 1, toolChoice: "required", thinking: { effort: "none" } },
    { toolChoice: { tool: "snap" }, thinking: { effort: "high", budget: 4000 }, stream: true },
  ];
  const dialects: readonly GeminiDialect[] = [
    dialect,
    codeAssist,
    { ...dialect, thinking: "budget", sampling: false },
    { ...dialect, thinking: "budget", budget: { least: 128, most: 2048, off: false } },
    { ...codeAssist, thinking: "none" },
  ];

  it.each(dialects)("a conversation is written the same again: %j", (as) => {
    for (const settings of asks)
      for (const toolResponse of ["output", "status"] as const) {
        const writing = { target, dialect: as, settings, from: google, policy: { toolResponse } };
        const back = expectSameAgain(gemini, conversation(), writing);
        expect(back.notes).toEqual([]);
      }
  });

  it("loses no file on the way", () => {
    const body = write(gemini, conversation(), { target, dialect, settings: {} });
    const back = gemini.read(JSON.parse(JSON.stringify(body)), google);
    const files = back.conversation.entries.flatMap((entry): readonly Media[] => {
      if (entry.type === "user") return entry.parts.filter((part) => part.type === "media");
      return entry.type === "completion" ? entry.outcome.content.filter((part) => part.type === "media") : [];
    });
    expect(files.filter(({ id }) => id === image.media.id)).toHaveLength(6);
    expect(files.filter(({ id }) => id === song.media.id)).toHaveLength(4);
    expect(Object.keys(back.conversation.blobs)).toHaveLength(2);
  });
});
