import { describe, expect, it } from "vitest";
import { ask, createClient, followUp, picture } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";

describe("Anthropic refuses", () => {
  const result = (id: string): Json => ({ type: "tool_result", tool_use_id: id, content: "x" });
  const call = (id: string): Json => ({ type: "tool_use", id, name: "ls", input: {} });
  const cases: readonly (readonly [string, Json, string, string])[] = [
    [
      "a call without a result",
      followUp(ask("hi"), [call("a")], "well?"),
      "anthropic/call-without-result",
      "`tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ],
    [
      "text after a call",
      followUp(ask("hi"), [call("a"), { type: "text", text: "Let me look." }], [result("a")]),
      "anthropic/text-after-call",
      "`tool_use` ids were found without `tool_result` blocks immediately after: a.",
    ],
    [
      "a result without a call",
      followUp(ask("hi"), "yes", [result("a")]),
      "anthropic/result-without-call",
      "unexpected `tool_use_id` found in `tool_result` blocks: a.",
    ],
    [
      "two results for a call",
      followUp(ask("hi"), [call("a")], [result("a"), result("a")]),
      "anthropic/duplicate-result",
      "each tool_use must have a single result.",
    ],
    [
      "a strange id",
      followUp(ask("hi"), [call("a.b")], [result("a.b")]),
      "anthropic/call-id",
      "String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    [
      "an empty text",
      ask("hi", { messages: [{ role: "user", content: [{ type: "text", text: "" }] }] }),
      "anthropic/empty-text",
      "text content blocks must be non-empty",
    ],
    [
      "a prefilled answer",
      ask("hi", {
        messages: [
          { role: "user", content: "hi" },
          { role: "assistant", content: "I" },
        ],
      }),
      "anthropic/prefill",
      "This model does not support assistant message prefill.",
    ],
    [
      "a picture in a failed result",
      followUp(ask("hi"), [call("a")], [{ ...result("a"), is_error: true, content: [picture] }]),
      "anthropic/error-media",
      "all content must be type `text` if `is_error` is true",
    ],
    [
      "sound",
      ask("hi", { messages: [{ role: "user", content: [{ type: "audio", source: {} }] }] }),
      "anthropic/block-type",
      "Input tag 'audio' found using 'type'",
    ],
    [
      "a forced call",
      ask("hi", { tool_choice: { type: "any" } }),
      "anthropic/forced-tool",
      'tool_choice: type "tool" and "any" are not supported for this model',
    ],
    [
      "a union at the top of a schema",
      ask("hi", { tools: [{ name: "ls", input_schema: { type: "object", anyOf: [] } }] }),
      "anthropic/top-level-union",
      "input_schema does not support oneOf, allOf, or anyOf at the top level",
    ],
    [
      "five cache marks",
      ask("hi", {
        system: Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })),
      }),
      "anthropic/cache-count",
      "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ],
    ["no max_tokens", ask("hi", { max_tokens: undefined }), "anthropic/max-tokens", "max_tokens: Field required"],
  ];

  it.each(cases)("%s, by rule and in its own wording", async (_, body, rule, words) => {
    const { send, simulator } = createClient();
    const { status, body: answer, headers } = await send(body);
    expect(status).toBe(400);
    expect(answer).toEqual({
      type: "error",
      error: { type: "invalid_request_error", message: expect.stringContaining(words) },
      request_id: headers["request-id"],
    });
    expect(simulator.log).toEqual([
      expect.objectContaining({ verdict: "refused", status: 400, rule, message: expect.stringContaining(words) }),
    ]);
  });

  it.each([
    ["no key", { "x-api-key": "" }, {}, 401, "authentication_error", "x-api-key header is required"],
    ["a wrong key", { "x-api-key": "sk-guess" }, {}, 401, "authentication_error", "invalid x-api-key"],
    ["an unknown model", {}, { model: "claude-sonet-4-5" }, 404, "not_found_error", "model: claude-sonet-4-5"],
    [
      "a version it does not know",
      { "anthropic-version": "2020-01-01" },
      {},
      400,
      "invalid_request_error",
      "anthropic-version: 2020-01-01 is not a valid version",
    ],
    [
      "more output than there is",
      {},
      { model: "claude-haiku-4-5", max_tokens: 64_001 },
      400,
      "invalid_request_error",
      "max_tokens: 64001 > 64000, which is the maximum allowed number of output tokens for claude-haiku-4-5",
    ],
    [
      "controls without their beta",
      {},
      { thinking: { type: "adaptive", block_binding: {} } },
      400,
      "invalid_request_error",
      "thinking.block_binding: Extra inputs are not permitted",
    ],
  ] as const)("%s", async (_, headers, more, status, type, message) => {
    const answer = await createClient({ keys: ["sk-ant-test"] }).send(ask("hi", more), headers);
    expect([answer.status, answer.body["error"]]).toEqual([status, { type, message }]);
  });

  it("a request without a version", async () => {
    const { simulator } = createClient();
    const response = await simulator.handle({
      method: "POST",
      url: "https://api.anthropic.com/v1/messages",
      headers: { "x-api-key": "k" },
      body: JSON.stringify(ask("hi")),
    });
    expect(response.status).toBe(400);
    expect(simulator.log[0]).toMatchObject({ message: "anthropic-version: header is required" });
  });

  it("a prompt longer than the context window, with the token count", async () => {
    const { send } = createClient();
    const { status, body } = await send(ask("x".repeat(800_400), { model: "claude-haiku-4-5", tools: [] }));
    expect([status, body["error"]]).toEqual([
      400,
      { type: "invalid_request_error", message: "prompt is too long: 200100 tokens > 200000 maximum" },
    ]);
  });

  it("a body of more than 32 MiB", async () => {
    const { status, body } = await createClient().send(ask("x".repeat(2 ** 25)));
    expect([status, body["error"]]).toEqual([
      413,
      { type: "request_too_large", message: "Request exceeds the maximum size" },
    ]);
  });
});

describe("version 2026-10-21", () => {
  const newer = { "anthropic-version": "2026-10-21" };
  const document = { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } };
  const cited = {
    type: "text",
    text: "hi",
    citations: [
      {
        type: "char_location",
        cited_text: "x",
        document_index: 0,
        document_title: "t",
        start_char_index: 0,
        end_char_index: 1,
      },
    ],
  };
  const old = { model: "claude-sonnet-4-5" };

  it.each([
    ["temperature", ask("hi", { ...old, temperature: 1 }), "temperature: Extra inputs are not permitted"],
    ["top_p", ask("hi", { ...old, top_p: 0.5 }), "top_p: Extra inputs are not permitted"],
    ["top_k", ask("hi", { ...old, top_k: 5 }), "top_k: Extra inputs are not permitted"],
    [
      "a document of the assistant's",
      followUp(ask("hi", old), [document], "and?"),
      "messages.1.content.0: `document` blocks are not permitted in `assistant` messages",
    ],
    [
      "citations on the user's text",
      ask("hi", { ...old, messages: [{ role: "user", content: [cited] }] }),
      "messages.0.content.0.text.citations: Extra inputs are not permitted",
    ],
  ])("refuses %s, which 2023-06-01 accepts", async (_, body, message) => {
    const { send } = createClient();
    const refused = await send(body, newer);
    expect([refused.status, asObject(refused.body["error"])["message"]]).toEqual([400, message]);
    expect((await send(body)).status).toBe(200);
  });

  it("accepts other requests, with the key as a bearer token", async () => {
    const { simulator } = createClient({ keys: ["sk"] });
    const response = await simulator.handle({
      method: "POST",
      url: "https://api.anthropic.com/v1/messages?beta=true",
      headers: { ...newer, authorization: "Bearer sk" },
      body: JSON.stringify(ask("hi")),
    });
    expect(response.status).toBe(200);
  });
});
