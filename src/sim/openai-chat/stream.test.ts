import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import { asObject } from "../json.ts";
import {
  callsIn,
  choiceIn,
  collectChunks,
  longText,
  lookScript,
  messageIn,
  createClient,
  question,
  usageIn,
  user,
} from "./client.cases.ts";
import { chatSimProviders } from "./providers/all.ts";

const everyone = chatSimProviders.map(({ id }) => id);
const counted = { stream_options: { include_usage: true } };
const deltasOf = (chunks: readonly Json[]): readonly Json[] =>
  chunks.map((chunk) => asObject(choiceIn(chunk)["delta"]));

describe("a stream", () => {
  it.each(everyone)("of %s has the same content as the complete response", async (provider) => {
    const whole = messageIn((await createClient(provider, { script: lookScript }).ask(question)).body);
    const { content, thought, calls, finish } = collectChunks(
      await createClient(provider, { script: lookScript }).chunks(question),
    );
    const parts = Array.isArray(whole["content"]) ? "I will look." : whole["content"];

    expect({ content, calls, finish }).toEqual({
      content: parts,
      calls: callsIn(whole).map((call) => ({ id: call["id"], ...asObject(call["function"]) })),
      finish: "tool_calls",
    });
    expect(thought).toBe(["openai-chat", "cohere", "minimax"].includes(provider) ? "" : "Two files to read.");
  });

  it.each(everyone)("of %s ends with [DONE], every event with an empty line", async (provider) => {
    const text = await createClient(provider).raw({ messages: [user("hi")] });

    expect(text.endsWith("data: [DONE]\n\n")).toBe(true);
    expect(text.split("\n\n").filter((event) => !/^(data: |: |$)/.test(event))).toEqual([]);
  });

  it("of OpenAI has its fields, its order and its padding", async () => {
    const script = { rules: [], otherwise: { say: "Hi." } };
    const text = await createClient("openai-chat", { script }).raw({ messages: [user("hi")], ...counted });
    const id = /chatcmpl-\w+/.exec(text)?.[0];
    const head = `{"id":"${id}","object":"chat.completion.chunk","created":1794700800,"model":"gpt-5","service_tier":"default","system_fingerprint":"fp_5c1f00a2b3","choices":`;

    expect(text.replaceAll(/,"obfuscation":"\w+"/g, ',"obfuscation":"..."').split("\n\n")).toEqual([
      `data: ${head}[{"index":0,"delta":{"role":"assistant","content":"","refusal":null},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"..."}`,
      `data: ${head}[{"index":0,"delta":{"content":"Hi."},"logprobs":null,"finish_reason":null}],"usage":null,"obfuscation":"..."}`,
      `data: ${head}[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}],"usage":null,"obfuscation":"..."}`,
      `data: ${head}[],"usage":{"prompt_tokens":4,"completion_tokens":1,"total_tokens":5,"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"obfuscation":"..."}`,
      "data: [DONE]",
      "",
    ]);
  });

  it("of OpenAI has no padding if disabled, and no usage unless requested", async () => {
    const { raw } = createClient("openai-chat");
    const plain = await raw({ messages: [user("hi")], stream_options: { include_obfuscation: false } });

    expect(plain).not.toContain("obfuscation");
    expect(plain).not.toContain("usage");
  });

  it("of OpenAI sends a call's name first and its arguments in deltas", async () => {
    const { chunks } = createClient("openai-chat", { script: lookScript });
    const calls = deltasOf(await chunks(question)).flatMap(callsIn);

    expect(calls).toEqual([
      { index: 0, id: expect.any(String), type: "function", function: { name: "snap", arguments: "" } },
      { index: 0, function: { arguments: '{"path":"a.p' } },
      { index: 0, function: { arguments: 'ng"}' } },
      { index: 1, id: expect.any(String), type: "function", function: { name: "stat", arguments: "" } },
      { index: 1, function: { arguments: '{"path":"b"}' } },
    ]);
  });

  it("of Groq sends complete calls, and usage in x_groq and beside it without a request", async () => {
    const chunks = await createClient("groq", { script: lookScript }).chunks(question);
    const usage = {
      queue_time: 0.01,
      prompt_tokens: 58,
      prompt_time: 0.0029,
      completion_tokens: 33,
      completion_time: 0.066,
      total_tokens: 91,
      total_time: 0.0689,
      completion_tokens_details: { reasoning_tokens: 5 },
    };

    expect(deltasOf(chunks).slice(-2)).toEqual([
      {
        tool_calls: [
          {
            id: expect.stringMatching(/^fc_/),
            type: "function",
            function: { name: "snap", arguments: '{"path":"a.png"}' },
            index: 0,
          },
          {
            id: expect.stringMatching(/^fc_/),
            type: "function",
            function: { name: "stat", arguments: '{"path":"b"}' },
            index: 1,
          },
        ],
      },
      {},
    ]);
    expect(chunks[0]?.["x_groq"]).toEqual({ id: expect.stringMatching(/^req_01/), seed: expect.any(Number) });
    expect(chunks.at(-1)).toMatchObject({ usage, x_groq: { usage } });
  });

  it("of Groq ends with an error after a malformed call", async () => {
    const script = () => ({
      parts: [{ type: "call" as const, tool: "snap", input: {} }],
      finish: "malformed" as const,
    });
    const text = await createClient("groq", { script }).raw(question);

    expect(text.split("\n\n").slice(-2)).toEqual([
      'event: error\ndata: {"error":{"message":"Tool call validation failed: the arguments are not valid JSON","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"","status_code":400}}',
      "",
    ]);
    expect(text).not.toContain("tool_calls");
  });

  it("of Mistral ends with the calls, without an index, and usage in the same chunk", async () => {
    const chunks = await createClient("mistral", { script: lookScript }).chunks(question);

    expect(deltasOf(chunks).slice(0, 2)).toEqual([
      { role: "assistant", content: "" },
      { content: [{ type: "thinking", thinking: [{ type: "text", text: "Two" }] }] },
    ]);
    expect(chunks.at(-1)).toMatchObject({
      choices: [
        {
          index: 0,
          delta: {
            content: null,
            tool_calls: [
              { id: expect.any(String), function: { name: "snap", arguments: '{"path":"a.png"}' } },
              { id: expect.any(String), function: { name: "stat", arguments: '{"path":"b"}' } },
            ],
          },
          finish_reason: "tool_calls",
        },
      ],
      usage: { prompt_tokens: 58, total_tokens: 91, completion_tokens: 33 },
    });
    expect(JSON.stringify(deltasOf(chunks).at(-1))).not.toContain("index");
  });

  it("of a GLM hosted by Mistral has call deltas with empty names", async () => {
    const { chunks } = createClient("mistral", { script: lookScript });
    const calls = deltasOf(await chunks({ ...question, model: "zai-glm-5-2" })).flatMap(callsIn);

    expect(calls.slice(0, 2)).toEqual([
      {
        index: 0,
        id: expect.stringMatching(/^chatcmpl-tool-[0-9a-f]{16}$/),
        type: "function",
        function: { name: "snap", arguments: "" },
      },
      { index: 0, function: { name: "", arguments: '{"path":"a.p' } },
    ]);
  });

  it("of Kimi has usage in its last choice, and again on request", async () => {
    const { chunks } = createClient("kimi");
    const plain = await chunks({ messages: [user(longText(100))] });
    const asked = await chunks({ messages: [user(longText(100))], ...counted });
    const usage = {
      prompt_tokens: 103,
      completion_tokens: expect.any(Number),
      total_tokens: expect.any(Number),
      completion_tokens_details: { reasoning_tokens: 0 },
      prompt_tokens_details: { cached_tokens: 0 },
    };
    const hit = { ...usage, cached_tokens: 103, prompt_tokens_details: { cached_tokens: 103 } };

    expect(choiceIn(plain.at(-1) ?? {})).toEqual({ index: 0, delta: {}, finish_reason: "stop", usage });
    expect(asked.slice(-2)).toMatchObject([
      { choices: [{ finish_reason: "stop", usage: hit }] },
      { choices: [], usage: hit },
    ]);
  });

  it("of DeepSeek has both fields, one of them null, and usage in its last chunk", async () => {
    const chunks = await createClient("deepseek", { script: lookScript }).chunks({ ...question, ...counted });
    const deltas = deltasOf(chunks);

    expect([deltas[0], deltas[1], deltas.find(({ content }) => content === "I"), deltas.at(-1)]).toEqual([
      { role: "assistant", content: null, reasoning_content: "" },
      { content: null, reasoning_content: "Two" },
      { content: "I", reasoning_content: null },
      { content: "", reasoning_content: null },
    ]);
    expect(chunks[0]?.["usage"]).toBe(null);
    expect(usageIn(chunks.at(-1) ?? {})).toMatchObject({ prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 58 });
  });

  it("of Qwen has an empty id in every delta of a call, and the role once", async () => {
    const chunks = await createClient("qwen", { script: lookScript }).chunks(question);
    const deltas = deltasOf(chunks);

    expect(deltas.filter(({ role }) => role !== undefined)).toEqual([
      { content: null, reasoning_content: "Two", role: "assistant" },
    ]);
    expect(deltas.flatMap(callsIn).slice(1, 4)).toEqual([
      { index: 0, id: "", type: "function", function: { arguments: '{"path":"a.p' } },
      { index: 0, id: "", type: "function", function: { arguments: 'ng"}' } },
      { index: 0, id: "", type: "function", function: { arguments: "" } },
    ]);
    expect(Object.keys(chunks[0] ?? {})).toEqual([
      "choices",
      "object",
      "usage",
      "created",
      "system_fingerprint",
      "model",
      "id",
    ]);
  });

  it("of GLM buffers a call until it is complete, unless tool_stream is set", async () => {
    const { chunks } = createClient("zai", { script: lookScript });

    expect(deltasOf(await chunks(question)).flatMap(callsIn)).toMatchObject([
      { index: 0, function: { name: "snap", arguments: '{"path":"a.png"}' } },
      { index: 1, function: { name: "stat", arguments: '{"path":"b"}' } },
    ]);
    expect(deltasOf(await chunks({ ...question, tool_stream: true })).flatMap(callsIn)).toHaveLength(5);
  });

  it("of MiniMax has thinking between tags in the text", async () => {
    const { content } = collectChunks(await createClient("minimax", { script: lookScript }).chunks(question));

    expect(content).toBe("<think>\nTwo files to read.\n</think>\n\nI will look.");
  });

  it("of OpenRouter starts with comments, has the seal after the thinking, and sends the last chunk twice", async () => {
    const { raw, chunks } = createClient("openrouter", { script: lookScript });
    const all = await chunks(question);
    const thoughts = deltasOf(all).filter((delta) => "reasoning" in delta);
    const detail = { type: "reasoning.text", format: "anthropic-claude-v1", index: 0 };

    expect((await raw(question)).startsWith(": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: {")).toBe(
      true,
    );
    expect(thoughts).toEqual([
      { content: "", role: "assistant", reasoning: "Two", reasoning_details: [{ ...detail, text: "Two" }] },
      {
        content: "",
        role: "assistant",
        reasoning: " files to read.",
        reasoning_details: [{ ...detail, text: " files to read." }],
      },
      {
        content: "",
        role: "assistant",
        reasoning: null,
        reasoning_details: [{ ...detail, signature: expect.stringMatching(/^[A-Za-z0-9+/=]{60,}$/) }],
      },
    ]);
    expect(all.slice(-2).map((chunk) => [choiceIn(chunk)["finish_reason"], "usage" in chunk])).toEqual([
      ["tool_calls", false],
      ["tool_calls", true],
    ]);
  });

  it.each(["openai/gpt-5.6", "google/gemini-3.1-pro-preview"])("of %s has the upstream's seals", async (model) => {
    const all = await createClient("openrouter", { script: lookScript }).chunks({ ...question, model });
    const details = deltasOf(all).flatMap(({ reasoning_details: list }) => (Array.isArray(list) ? list : []));

    expect(details.filter((detail) => asObject(detail)["type"] === "reasoning.encrypted")).toEqual([
      model.startsWith("openai")
        ? {
            type: "reasoning.encrypted",
            data: expect.any(String),
            id: expect.stringMatching(/^rs_/),
            format: "openai-responses-v1",
            index: 0,
          }
        : {
            type: "reasoning.encrypted",
            data: expect.any(String),
            id: deltasOf(all).flatMap(callsIn)[0]?.["id"],
            format: "google-gemini-v1",
            index: 0,
          },
    ]);
  });

  it("has truncated arguments in a malformed call", async () => {
    const script = () => ({
      parts: [{ type: "call" as const, tool: "snap", input: { path: "a.png" } }],
      finish: "malformed" as const,
    });
    const { calls, finish } = collectChunks(await createClient("kimi", { script }).chunks(question));

    expect([calls, finish]).toEqual([[{ id: "functions.snap:0", name: "snap", arguments: '{"path":' }], "tool_calls"]);
  });

  it.each([
    ["openai-chat", 'data: {"error":{"message":"Overloaded","type":"server_error","param":null,"code":null}}\n\n'],
    [
      "groq",
      'event: error\ndata: {"error":{"message":"Overloaded","type":"internal_server_error","status_code":529}}\n\n',
    ],
    ["kimi", 'data: {"error":{"message":"Overloaded","type":"engine_overloaded_error"}}\n\n'],
  ])("of %s ends with the vendor's error event", async (provider, event) => {
    const faults = [{ fault: { type: "stream-error" as const, after: 2 } }];
    const text = await createClient(provider, { faults, script: lookScript }).raw(question);

    expect(text.endsWith(event)).toBe(true);
  });

  it("of OpenRouter ends with an error chunk", async () => {
    const faults = [{ fault: { type: "stream-error" as const, after: 3, status: 502, message: "Bad upstream" } }];

    expect((await createClient("openrouter", { faults, script: lookScript }).chunks(question)).at(-1)).toMatchObject({
      object: "chat.completion.chunk",
      provider: "Anthropic",
      error: { code: 502, message: "Bad upstream" },
      choices: [{ finish_reason: "error", native_finish_reason: "error" }],
    });
  });

  it("contains generated images", async () => {
    const script = () => ({ parts: [{ type: "file" as const, mimeType: "image/png", data: "AAAA" }] });
    const chunks = await createClient("openrouter", { script }).chunks({ messages: [user("draw")] });

    expect(deltasOf(chunks)[0]?.["images"]).toEqual([
      { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" }, index: 0 },
    ]);
  });
});
