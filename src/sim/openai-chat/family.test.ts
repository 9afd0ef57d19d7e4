import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";
import {
  callsIn,
  lookScript,
  messageIn,
  createClient,
  question,
  result,
  send,
  usageIn,
  user,
  wordsIn,
} from "./client.cases.ts";
import { chatSimProviders } from "./providers/all.ts";

const everyone = chatSimProviders.map(({ id }) => id);
const asked = [...(question["messages"] as Json[])];

describe("a tool loop", () => {
  it("is answered by OpenAI with text and parallel calls, and reasoning that is only counted", async () => {
    const { ask } = createClient("openai-chat", { script: lookScript });

    expect(await ask(question)).toEqual({
      status: 200,
      headers: {
        "content-type": "application/json",
        "openai-version": "2020-10-01",
        "x-request-id": expect.stringMatching(/^req_[0-9a-f]{32}$/),
        "x-ratelimit-limit-requests": "10000",
        "x-ratelimit-limit-tokens": "2000000",
        "x-ratelimit-remaining-requests": "9999",
        "x-ratelimit-remaining-tokens": "1999900",
        "x-ratelimit-reset-requests": "6ms",
        "x-ratelimit-reset-tokens": "3ms",
      },
      body: {
        id: expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{29}$/),
        object: "chat.completion",
        created: 1_794_700_800,
        model: "gpt-5",
        choices: [
          {
            index: 0,
            message: {
              role: "assistant",
              content: "I will look.",
              tool_calls: [
                {
                  id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
                  type: "function",
                  function: { name: "snap", arguments: '{"path":"a.png"}' },
                },
                {
                  id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
                  type: "function",
                  function: { name: "stat", arguments: '{"path":"b"}' },
                },
              ],
              refusal: null,
              annotations: [],
            },
            logprobs: null,
            finish_reason: "tool_calls",
          },
        ],
        usage: {
          prompt_tokens: 58,
          completion_tokens: 33,
          total_tokens: 91,
          prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
          completion_tokens_details: {
            reasoning_tokens: 5,
            audio_tokens: 0,
            accepted_prediction_tokens: 0,
            rejected_prediction_tokens: 0,
          },
        },
        service_tier: "default",
        system_fingerprint: "fp_5c1f00a2b3",
      },
    });
  });

  it.each(everyone)("continues at %s when the message is sent back unchanged with the results", async (provider) => {
    const { ask } = createClient(provider, { script: lookScript });
    const message = messageIn((await ask(question)).body);
    const [snap, stat] = callsIn(message);
    const messages = [...asked, message, result(snap?.["id"], "a picture"), result(stat?.["id"], "ENOENT")];
    const { status, body } = await ask({ ...question, messages });

    expect([status, wordsIn(body)]).toEqual([200, 'snap returned: "a picture". stat returned: "ENOENT".']);
  });

  it.each([
    ["openai-chat", /^call_[A-Za-z0-9]{24}$/],
    ["groq", /^fc_[0-9a-f-]{36}$/],
    ["openrouter", /^toolu_01[A-Za-z0-9]{22}$/],
    ["kimi", /^functions\.(snap:0|stat:1)$/],
    ["mistral", /^[A-Za-z0-9]{9}$/],
    ["deepseek", /^call_0[01]_[A-Za-z0-9]{24}$/],
    ["qwen", /^call_[0-9a-f]{24}$/],
    ["zai", /^call_[0-9a-f]{32}$/],
    ["minimax", /^call_function_[a-z0-9]{12}_[12]$/],
    ["cohere", /^(snap|stat)_[a-z0-9]{12}$/],
    ["local", /^call_[a-z0-9]{8}$/],
  ])("has call ids in the format of %s", async (provider, pattern) => {
    const { ask } = createClient(provider, { script: lookScript });
    const ids = callsIn(messageIn((await ask(question)).body)).map(({ id }) => id);

    expect(ids).toEqual([expect.stringMatching(pattern), expect.stringMatching(pattern)]);
    expect(new Set(ids).size).toBe(2);
  });

  it("restarts Kimi's call ids with every response, so that they repeat in a conversation", async () => {
    const { ask } = createClient("kimi", { script: () => ({ parts: [{ type: "call", tool: "snap", input: {} }] }) });
    const first = messageIn((await ask(question)).body);
    const messages = [...asked, { ...first, reasoning_content: "" }, result("functions.snap:0", "done")];

    expect(callsIn(messageIn((await ask({ ...question, messages })).body))[0]?.["id"]).toBe("functions.snap:0");
  });

  it.each([
    ["groq", { reasoning: "Two files to read." }],
    ["kimi", { reasoning_content: "Two files to read." }],
    ["deepseek", { reasoning_content: "Two files to read." }],
    ["zai", { reasoning_content: "Two files to read." }],
    ["local", { reasoning: "Two files to read." }],
    [
      "mistral",
      {
        content: [
          { type: "thinking", thinking: [{ type: "text", text: "Two files to read." }] },
          { type: "text", text: "I will look." },
        ],
      },
    ],
    ["minimax", { content: "<think>\nTwo files to read.\n</think>\n\nI will look." }],
    ["cohere", { content: "I will look." }],
  ])("has reasoning in the field of %s", async (provider, fields) => {
    const { ask } = createClient(provider, { script: lookScript });

    expect(messageIn((await ask(question)).body)).toMatchObject(fields);
  });

  it("separates MiniMax's thinking from its text on request", async () => {
    const { ask } = createClient("minimax", { script: lookScript });

    expect(messageIn((await ask({ ...question, reasoning_split: true })).body)).toMatchObject({
      content: "I will look.",
      reasoning_content: "Two files to read.",
      reasoning_details: [
        {
          type: "reasoning.text",
          id: "reasoning-text-1",
          format: "MiniMax-response-v1",
          index: 0,
          text: "Two files to read.",
        },
      ],
    });
  });

  it.each(everyone)("is answered by %s with the same bytes by a new server", async (provider) => {
    const answers = [
      createClient(provider, { script: lookScript }),
      createClient(provider, { script: lookScript }),
    ].map(({ raw }) => raw(question));

    expect(await answers[0]).toBe(await answers[1]);
  });

  it("omits thinking when reasoning is off", async () => {
    const { ask } = createClient("deepseek", { script: lookScript });
    const { body } = await ask({ ...question, thinking: { type: "disabled" } });

    expect("reasoning_content" in messageIn(body)).toBe(false);
    expect(asObject(usageIn(body)["completion_tokens_details"])).toEqual({ reasoning_tokens: 0 });
  });
});

describe("the rest of the API", () => {
  it("lists models of OpenAI, of OpenRouter with prices, and of Mistral with capabilities", async () => {
    const first = async (provider: string): Promise<readonly [Json, unknown]> => {
      const { body } = await createClient(provider).get("/models");
      const { data, ...around } = body;
      return [around, (data as readonly unknown[])[0]];
    };

    expect(await first("openai-chat")).toEqual([
      { object: "list" },
      { id: "gpt-5.6", object: "model", created: 1_767_225_600, owned_by: "system" },
    ]);
    expect(await first("openrouter")).toEqual([
      { links: { next: null }, total_count: 12 },
      expect.objectContaining({
        id: "anthropic/claude-sonnet-5",
        context_length: 1_000_000,
        pricing: { prompt: "0.000003", completion: "0.000015", request: "0", image: "0" },
      }),
    ]);
    expect(await first("mistral")).toEqual([
      { object: "list" },
      expect.objectContaining({
        id: "mistral-large-latest",
        max_context_length: 262_144,
        capabilities: expect.objectContaining({ completion_chat: true, function_calling: true, vision: true }),
      }),
    ]);
    expect(await first("deepseek")).toEqual([
      { object: "list" },
      { id: "deepseek-v4-flash", object: "model", owned_by: "deepseek" },
    ]);
  });

  it("describes one model, also with a slash in its name", async () => {
    const { get } = createClient("groq");

    expect((await get("/models/openai/gpt-oss-20b")).body).toMatchObject({
      id: "openai/gpt-oss-20b",
      context_window: 131_072,
    });
  });

  it("has no token counting", async () => {
    const { simulator } = createClient("openai-chat");
    const headers = { authorization: "Bearer k" };
    const url = "https://localhost/v1/chat/completions/input_tokens";

    expect(await send(simulator, { method: "POST", url, headers, body: "{}" })).toMatchObject({
      status: 404,
      body: { error: { message: "Invalid URL (POST /v1/chat/completions/input_tokens)" } },
    });
  });

  it("answers at DeepSeek with and without a version prefix, and elsewhere only under the base path", async () => {
    const at = async (provider: string, path: string): Promise<number> => {
      const { simulator } = createClient(provider);
      const body = JSON.stringify({ model: simulator.provider.models[0]?.id, messages: [user("hi")] });
      const headers = { authorization: "Bearer k" };
      return (await send(simulator, { method: "POST", url: `https://localhost${path}`, headers, body })).status;
    };

    expect(await at("deepseek", "/chat/completions")).toBe(200);
    expect(await at("deepseek", "/v1/chat/completions")).toBe(200);
    expect(await at("groq", "/openai/v1/chat/completions")).toBe(200);
    expect(await at("zai", "/api/paas/v4/chat/completions")).toBe(200);
    expect(await at("openai-chat", "/v1/v1/chat/completions")).toBe(404);
    expect(await at("qwen", "/v1/chat/completions")).toBe(404);
  });

  it("responds with the name of the model that serves an old name", async () => {
    const { ask } = createClient("deepseek");

    expect((await ask({ model: "deepseek-reasoner", messages: [user("hi")] })).body["model"]).toBe("deepseek-v4-flash");
  });

  it("returns sources in annotations where a vendor supports them", async () => {
    const { ask } = createClient("openai-chat");
    const { body } = await ask({ model: "gpt-4o-search-preview", messages: [user("news?")] });

    expect(messageIn(body)).toMatchObject({
      content: 'I searched, and found one page.You said: "news?".',
      annotations: [
        {
          type: "url_citation",
          url_citation: { start_index: 0, end_index: 31, title: "A page about it", url: "https://example.com/about" },
        },
      ],
    });
  });

  it.each([
    ["openai-chat", "refused", { message: { content: null, refusal: "No." }, finish_reason: "stop" }],
    ["openai-chat", "filtered", { finish_reason: "content_filter" }],
    ["mistral", "context", { finish_reason: "model_length" }],
    ["mistral", "malformed", { finish_reason: "error" }],
    ["zai", "filtered", { finish_reason: "sensitive" }],
    ["zai", "context", { finish_reason: "model_context_window_exceeded" }],
    ["openrouter", "refused", { finish_reason: "content_filter", native_finish_reason: "refusal" }],
    ["openrouter", "length", { finish_reason: "length", native_finish_reason: "max_tokens" }],
  ] as const)("ends at %s with the vendor's finish reason for %s", async (provider, finish, choice) => {
    const { ask } = createClient(provider, { script: () => ({ parts: [{ type: "say", text: "No." }], finish }) });
    const { body } = await ask({ messages: [user("hi")] });

    expect(body).toMatchObject({ choices: [choice] });
  });
});
