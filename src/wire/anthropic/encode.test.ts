import { describe, expect, it } from "vitest";
import { call, done, failed, text } from "../../conversation/builders.ts";
import type { Conversation } from "../../conversation/entry.ts";
import type { JsonObject } from "../../conversation/json.ts";
import { Ledger } from "../../conversation/ledger.ts";
import { mediaAt, storeBase64 } from "../../conversation/media.ts";
import type { MediaFile, ModelStep, Step } from "../../transcript/step.ts";
import type { Target } from "../../transcript/target.ts";
import { anthropic, type AnthropicDialect } from "./encode.ts";
import { encodeMarked, expectSameAgain, notesElsewhere, snapExchange } from "../wire.cases.ts";
import type { RequestSettings, WireRequest } from "../wire.ts";

const dialect: AnthropicDialect = { thinking: "adaptive", forcedTools: true, sampling: true, maxTokens: 8192 };
const from = { provider: "anthropic", model: "claude-sonnet-5" };
const picture: MediaFile = {
  type: "file",
  kind: "image",
  mimeType: "image/png",
  id: "file-1",
  source: { type: "data", base64: "cG5n" },
};
const paper: MediaFile = { ...picture, kind: "document", mimeType: "application/pdf", name: "a.pdf" };
const shown = { type: "image", source: { type: "base64", media_type: "image/png", data: "cG5n" } };

const encode = (step: Step): readonly JsonObject[] => anthropic.encodeStep(step, dialect);
const model = (...parts: ModelStep["parts"]): Step => ({ role: "model", parts });

describe("a step", () => {
  it("of the user holds words and files in order", () => {
    expect(encode({ role: "user", parts: [text("look"), picture, paper, text("well?")] })).toEqual([
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          shown,
          { type: "document", source: { type: "base64", media_type: "application/pdf", data: "cG5n" }, title: "a.pdf" },
          { type: "text", text: "well?" },
        ],
      },
    ]);
  });

  it("takes files by address, and by the id they were uploaded under", () => {
    const at = (uri: string): MediaFile => ({ ...picture, source: { type: "uri", uri } });
    expect(encode({ role: "user", parts: [at("https://example.com/a.png"), at("anthropic-file:file_1")] })).toEqual([
      {
        role: "user",
        content: [
          { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
          { type: "image", source: { type: "file", file_id: "file_1" } },
        ],
      },
    ]);
  });

  it("of the model has all its results in the next message, in call order", () => {
    const step = model(
      text("I look"),
      snapExchange("toolu_1", [text("here"), picture, { type: "structured", value: { n: 1 } }]),
      snapExchange("toolu_2", [text("ENOENT")], "error"),
      snapExchange("toolu_3", [text("stopped")], "cancelled"),
    );
    const use = (id: string): JsonObject => ({ type: "tool_use", id, name: "snap", input: { n: 1 } });
    expect(encode(step)).toEqual([
      {
        role: "assistant",
        content: [{ type: "text", text: "I look" }, use("toolu_1"), use("toolu_2"), use("toolu_3")],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: [{ type: "text", text: "here" }, shown, { type: "text", text: '{"n":1}' }],
          },
          { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "ENOENT" }], is_error: true },
          { type: "tool_result", tool_use_id: "toolu_3", content: [{ type: "text", text: "stopped" }], is_error: true },
        ],
      },
    ]);
  });

  it("brings thinking back with its seal", () => {
    const step = model(
      { type: "thinking", text: "hm", seal: { signature: "c2ln" } },
      { type: "thinking", text: "", seal: { encrypted: "b3Bh" } },
      text("so"),
    );
    expect(encode(step)[0]?.["content"]).toEqual([
      { type: "thinking", thinking: "hm", signature: "c2ln" },
      { type: "redacted_thinking", data: "b3Bh" },
      { type: "text", text: "so" },
    ]);
  });
});

const hello: JsonObject = { role: "user", content: [{ type: "text", text: "hi" }] };
const tools = [
  { name: "snap", description: "Takes a picture", parameters: { type: "object", properties: {} } },
] as const;
const request = (
  settings: RequestSettings,
  more: Partial<WireRequest<AnthropicDialect>> = {},
): WireRequest<AnthropicDialect> => ({
  model: "claude-sonnet-5",
  tools: [],
  settings,
  dialect,
  ...more,
});
const write = (
  settings: RequestSettings,
  own: Partial<AnthropicDialect> = {},
  more: Partial<WireRequest<AnthropicDialect>> = {},
) => {
  const { body, notes } = anthropic.encodeRequest(
    [hello],
    request(settings, { tools, dialect: { ...dialect, ...own }, ...more }),
  );
  const { model: _model, messages: _messages, tools: _tools, ...rest } = body;
  return { ...rest, notes: notes.map(({ kind }) => kind) };
};

describe("a request", () => {
  it("says nothing it was not asked to, but always a limit", () => {
    expect(anthropic.encodeRequest([hello], request({}))).toEqual({
      body: { model: "claude-sonnet-5", max_tokens: 8192, messages: [hello] },
      notes: [],
    });
  });

  it("declares tools with an object on top", () => {
    const choice = { anyOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "string" } } }] };
    const { body, notes } = anthropic.encodeRequest(
      [hello],
      request({}, { tools: [...tools, { name: "either", parameters: choice }] }),
    );
    const [first, second] = body["tools"] as readonly JsonObject[];
    expect(first).toEqual({
      name: "snap",
      description: "Takes a picture",
      input_schema: { type: "object", properties: {} },
    });
    expect(second?.["input_schema"]).toMatchObject({
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
    });
    expect(notes.map(({ kind }) => kind)).toEqual(["schema-adapted"]);
  });

  it.each<[string, ReturnType<typeof write>, object]>([
    [
      "system, stream and temperature",
      write({ stream: true, temperature: 0.5 }, {}, { system: "Be brief." }),
      { system: [{ type: "text", text: "Be brief." }], stream: true, temperature: 0.5, notes: [] },
    ],
    ["any tool", write({ toolChoice: "required" }), { tool_choice: { type: "any" }, notes: [] }],
    ["one tool", write({ toolChoice: { tool: "snap" } }), { tool_choice: { type: "tool", name: "snap" }, notes: [] }],
    ["no tool", write({ toolChoice: "none" }), { tool_choice: { type: "none" }, notes: [] }],
    [
      "a tool from a model that cannot be made to call one",
      write({ toolChoice: "required" }, { forcedTools: false }),
      { tool_choice: { type: "auto" }, notes: ["setting-adapted"] },
    ],
    [
      "thinking from a model that paces itself",
      write({ thinking: { effort: "low" } }),
      { thinking: { type: "adaptive" }, output_config: { effort: "low" }, notes: [] },
    ],
    ["no thinking", write({ thinking: { effort: "none" } }), { thinking: { type: "disabled" }, notes: [] }],
    [
      "no thinking from a model that always does",
      write({ thinking: { effort: "none" } }, { thinking: "always" }),
      { thinking: { type: "adaptive" }, output_config: { effort: "low" }, notes: ["setting-adapted"] },
    ],
    [
      "thinking with a budget",
      write({ thinking: { effort: "low" } }, { thinking: "budget" }),
      { thinking: { type: "enabled", budget_tokens: 2048 }, notes: [] },
    ],
    [
      "thinking without room for it",
      write({ maxTokens: 900, thinking: { effort: "low" } }, { thinking: "budget" }),
      { max_tokens: 900, notes: ["setting-adapted"] },
    ],
    [
      "thinking from a model that has none",
      write({ thinking: { effort: "high" } }, { thinking: "none" }),
      { notes: ["setting-adapted"] },
    ],
    [
      "temperature beside thinking",
      write({ temperature: 0.2, thinking: { effort: "high" } }),
      { thinking: { type: "adaptive" }, output_config: { effort: "high" }, notes: ["setting-adapted"] },
    ],
    [
      "temperature from a model that takes none",
      write({ temperature: 0.2 }, { sampling: false }),
      { notes: ["setting-adapted"] },
    ],
    ["more temperature than there is", write({ temperature: 1.8 }), { temperature: 1, notes: ["setting-adapted"] }],
  ])("asks for %s", (_what, written, expected) => {
    expect(written).toEqual({ max_tokens: 8192, ...expected });
  });

  it("marks the system text and the last block for the cache, and finds the messages again", () => {
    const messages = [hello, ...encode(model(snapExchange("toolu_1", [text("here")])))];
    const body = encodeMarked(anthropic, messages, request({ cache: { marks: true } }, { system: "Be brief." }));
    const mark = { cache_control: { type: "ephemeral" } };
    expect(body["system"]).toEqual([{ type: "text", text: "Be brief.", ...mark }]);
    expect((body["messages"] as readonly JsonObject[]).at(-1)).toEqual({
      role: "user",
      content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "here" }], ...mark }],
    });
    expect(anthropic.extractMessages(body)).toEqual(messages);
  });
});

describe("reading", () => {
  it("brings back everything a body says, and names what has no counterpart", () => {
    const { media, blob } = storeBase64("cG5n", { mimeType: "image/png", kind: "image" });
    const reading = anthropic.read(
      {
        model: "claude-opus-5",
        max_tokens: 10,
        top_k: 5,
        system: [
          { type: "text", text: "A" },
          { type: "text", text: "B" },
        ],
        thinking: { type: "enabled", budget_tokens: 2000 },
        tool_choice: { type: "tool", name: "snap" },
        tools: [
          { name: "snap", description: "Takes a picture", input_schema: { type: "object", properties: {} } },
          { type: "web_search_20250305", name: "web_search" },
        ],
        messages: [
          { role: "user", content: [shown, { type: "container_upload", file_id: "f" }] },
          {
            role: "assistant",
            content: [
              { type: "thinking", thinking: "hm", signature: "c2ln" },
              { type: "tool_use", id: 7, name: "snap", input: { n: 1 } },
            ],
          },
          {
            role: "user",
            content: [
              { type: "tool_result", tool_use_id: 7, content: "no", is_error: true },
              { type: "text", text: "why?" },
            ],
          },
          { role: "system", content: "Mind the gap." },
        ],
      },
      from,
    );
    expect(reading).toMatchObject({
      model: "claude-opus-5",
      settings: { maxTokens: 10, thinking: { effort: "medium", budget: 2000 }, toolChoice: { tool: "snap" } },
      conversation: {
        system: "A\n\nB",
        tools,
        blobs: { [blob.hash]: blob.base64 },
        entries: [
          { type: "user", parts: [media] },
          {
            type: "model",
            origin: { provider: "anthropic", model: "claude-opus-5" },
            parts: [
              { type: "thinking", seal: { signature: "c2ln" } },
              { type: "call", tool: "snap", seal: { id: "7" } },
            ],
          },
          { type: "completion", call: "hist_tool_1", outcome: failed("no") },
          { type: "user", parts: [text("why?")] },
          { type: "notice", text: "Mind the gap." },
        ],
      },
    });
    expect(notesElsewhere(reading).map(({ kind }) => kind)).toEqual(["unknown-part", "unknown-part", "unread-field"]);
  });

  it("reads calls and results in any role, and text without a type", () => {
    const { conversation } = anthropic.read(
      [
        { role: "user", content: ["go", { text: "on" }, { type: "tool_use", id: "a", name: "snap", input: "{}" }] },
        {
          role: "assistant",
          content: [
            { type: "tool_result", tool_use_id: "a", content: { type: "text", text: "here" } },
            { type: "text", text: "so" },
          ],
        },
      ],
      from,
    );
    expect(conversation.entries).toMatchObject([
      { type: "user", parts: [text("go"), text("on")] },
      { type: "model", parts: [{ type: "call", tool: "snap" }] },
      { type: "completion", outcome: done("here") },
      { type: "model", parts: [text("so")] },
    ]);
  });

  it.each(
    [
      undefined,
      null,
      "x",
      7,
      [],
      {},
      { messages: {} },
      { messages: [null, 1, { role: "user" }, { role: "user", content: [null, 5, {}] }] },
      { system: 5, tools: [null, {}], tool_choice: [], thinking: 1 },
    ].map((body) => ({ body })),
  )("does not throw on $body", ({ body }) => {
    expect(() => anthropic.read(body, from)).not.toThrow();
  });
});

describe("there and back", () => {
  const files = { types: ["image/png"], uri: ["https://"] };
  const target: Target = {
    ...from,
    ids: {
      name: "anthropic",
      legal: /^[\w-]{1,64}$/,
      project: (ordinal, _tool, attempt) => `toolu_${ordinal}-${attempt}`,
    },
    toolName: /^[A-Za-z_][\w-]{0,63}$/,
    media: { result: { image: files }, errorResult: {}, user: { image: files }, model: {} },
    thinking: { form: "signed", readers: [], bound: false },
    order: { userFirst: true, userLast: true, alternate: false, bridgeAfterResults: false },
  };

  it("is the same body, byte for byte", () => {
    const { media, blob } = storeBase64("cG5n", { mimeType: "image/png" });
    const ledger = new Ledger();
    ledger.user([text("look"), mediaAt("https://example.com/a.png", { mimeType: "image/png" })]);
    const made = ledger.model(from, [
      { type: "thinking", text: "hm", seal: { signature: "c2ln" } },
      call("snap", {}, "toolu_a"),
      call("mcp.snap"),
    ]);
    ledger.complete(made[0]!.id, "snap", done("here", media));
    ledger.complete(made[1]!.id, "mcp.snap", failed("no", media));
    ledger.model(from, [text("Done.")]);
    const conversation: Conversation = {
      version: 1,
      system: "Be brief.",
      tools,
      entries: ledger.entries,
      blobs: { [blob.hash]: blob.base64 },
    };
    const settings: RequestSettings = {
      maxTokens: 9000,
      toolChoice: "auto",
      thinking: { effort: "high" },
      stream: true,
    };
    expectSameAgain(anthropic, conversation, { target, dialect, settings, from });
  });
});
