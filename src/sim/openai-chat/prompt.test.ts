import { describe, expect, it } from "vitest";
import type { Json } from "../family.ts";
import type { SimModelRequest } from "../model/types.ts";
import {
  callsIn,
  longText,
  lookScript,
  messageIn,
  createClient,
  picture,
  question,
  result,
  tools,
  usageIn,
  user,
  wordsIn,
} from "./client.cases.ts";

const asked = [...(question["messages"] as Json[])];

describe("the model's input", () => {
  it("has every message in its turn, in any content format", async () => {
    const heard: SimModelRequest[] = [];
    const { ask } = createClient("kimi", {
      script: (said) => {
        heard.push(said);
        return { parts: [] };
      },
    });
    await ask({
      ...tools("snap"),
      max_tokens: 50,
      messages: [
        { role: "system", content: "Be brief." },
        user("one"),
        user([{ type: "text", text: "two" }, picture]),
        {
          role: "assistant",
          content: "Looking.",
          reasoning_content: "hm",
          tool_calls: [
            { id: "functions.snap:0", type: "function", function: { name: "snap", arguments: '{"path":"a"}' } },
          ],
        },
        result("functions.snap:0", [{ type: "text", text: "here" }, picture]),
      ],
    });

    const file = { kind: "image", mimeType: "image/png", bytes: 29, width: 100, height: 75 };
    expect(heard).toEqual([
      {
        model: "kimi-k3",
        system: "Be brief.",
        tools: [
          {
            name: "snap",
            description: "",
            parameters: { type: "object", properties: { path: { type: "string" } } },
          },
        ],
        turns: [
          { by: "user", text: "one\n\ntwo", files: [file] },
          {
            by: "model",
            text: "Looking.",
            calls: [{ id: "functions.snap:0", tool: "snap", input: { path: "a" } }],
          },
          {
            by: "tools",
            results: [{ id: "functions.snap:0", tool: "snap", text: "here", isError: false, files: [file] }],
          },
        ],
        serverTools: [],
        maxOutput: 50,
        mayThink: true,
      },
    ]);
  });

  it.each([
    ["openai-chat", "gpt-5.6"],
    ["groq", "meta-llama/llama-4-scout-17b-16e-instruct"],
    ["openrouter", "anthropic/claude-sonnet-5"],
    ["kimi", "kimi-k3"],
    ["mistral", "mistral-large-latest"],
    ["deepseek", "deepseek-v4-flash-vision-exp"],
    ["qwen", "qwen3-vl-plus"],
    ["zai", "glm-4.6v"],
    ["minimax", "MiniMax-M3"],
    ["cohere", "command-a-vision-07-2025"],
    ["local", "qwen3-vl"],
  ])("includes images of the user at %s, which cost 85 tokens", async (provider, model) => {
    const { ask } = createClient(provider);
    const plain = await ask({ model, messages: [user([{ type: "text", text: "Look." }])] });
    const { body } = await ask({ model, messages: [user([{ type: "text", text: "Look." }, picture])] });

    expect(wordsIn(body)).toBe('You said: "Look.". I see image image/png of 100x75 pixels (29 bytes).');
    expect(Number(usageIn(body)["prompt_tokens"]) - Number(usageIn(plain.body)["prompt_tokens"])).toBe(85);
  });

  it.each([
    ["qwen", "qwen3-max"],
    ["kimi", "kimi-k2-turbo-preview"],
    ["minimax", "MiniMax-M2.5"],
    ["cohere", "command-a-03-2025"],
    ["local", "qwen3"],
  ])("has no images for %s/%s: they are silently lost and not billed", async (provider, model) => {
    const { ask } = createClient(provider);
    const plain = await ask({ model, messages: [user([{ type: "text", text: "Look." }])] });
    const { status, body } = await ask({ model, messages: [user([{ type: "text", text: "Look." }, picture])] });

    expect([status, wordsIn(body)]).toEqual([200, 'You said: "Look.".']);
    expect(usageIn(body)["prompt_tokens"]).toBe(usageIn(plain.body)["prompt_tokens"]);
  });

  it.each(["mistral", "qwen", "minimax", "cohere"])("has no images inside results at %s", async (provider) => {
    const { ask } = createClient(provider, { script: lookScript });
    const message = messageIn((await ask(question)).body);
    const [snap, stat] = callsIn(message);
    const seen = result(snap?.["id"], [{ type: "text", text: "a picture" }, picture]);
    const { body } = await ask({ ...question, messages: [...asked, message, seen, result(stat?.["id"], "none")] });

    expect(wordsIn(body)).toBe('snap returned: "a picture". stat returned: "none".');
  });

  it("has neither id nor file of a result with list content at Ollama", async () => {
    const { ask } = createClient("local", { script: lookScript });
    const message = messageIn((await ask({ ...question, model: "qwen3-vl" })).body);
    const [snap, stat] = callsIn(message);
    const listed = result(snap?.["id"], [{ type: "text", text: "a picture" }, picture]);
    const messages = [...asked, message, listed, result(stat?.["id"], "none")];

    expect(wordsIn((await ask({ ...question, model: "qwen3-vl", messages })).body)).toBe(
      ' returned: "a picture". stat returned: "none".',
    );
  });

  it("counts audio, video and documents by modality", async () => {
    const { ask } = createClient("openrouter");
    const { body } = await ask({
      messages: [
        user([
          { type: "input_audio", input_audio: { data: "AAAA".repeat(1000), format: "wav" } },
          { type: "video_url", video_url: { url: `data:video/mp4;base64,${"AAAA".repeat(1000)}` } },
          { type: "file", file: { filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjQ=" } },
        ]),
      ],
    });

    expect(usageIn(body)).toMatchObject({
      prompt_tokens: 3 + 32 + 64 + 1500,
      prompt_tokens_details: { audio_tokens: 32, video_tokens: 64 },
    });
    expect(wordsIn(body)).toBe(
      "I see audio audio/wav (3000 bytes), video video/mp4 (3000 bytes), document application/pdf (8 bytes).",
    );
  });

  it("is counted by modality at Qwen", async () => {
    const { ask } = createClient("qwen");
    const { body } = await ask({
      model: "qwen3-vl-plus",
      messages: [user([{ type: "text", text: "Look." }, picture])],
    });

    expect(usageIn(body)["prompt_tokens_details"]).toEqual({ cached_tokens: 0, text_tokens: 5, image_tokens: 85 });
  });
});

describe("the prompt cache", () => {
  const twice = async (provider: string, body: Json): Promise<readonly [Json, Json]> => {
    const { ask } = createClient(provider);
    const first = await ask(body);
    return [usageIn(first.body), usageIn((await ask(body)).body)];
  };
  const long = { messages: [user(longText(2000))] };

  it("hits known prefixes, at OpenAI from 1024 tokens on and in steps of 128", async () => {
    expect(await twice("openai-chat", long)).toMatchObject([
      { prompt_tokens: 2003, prompt_tokens_details: { cached_tokens: 0 } },
      { prompt_tokens: 2003, prompt_tokens_details: { cached_tokens: 1920 } },
    ]);
    expect(await twice("openai-chat", { messages: [user(longText(1000))] })).toMatchObject([
      { prompt_tokens_details: { cached_tokens: 0 } },
      { prompt_tokens_details: { cached_tokens: 0 } },
    ]);
  });

  it.each([
    ["groq", {}, { prompt_tokens_details: { cached_tokens: 1920 } }],
    ["deepseek", {}, { prompt_cache_hit_tokens: 1920, prompt_cache_miss_tokens: 83 }],
    ["kimi", {}, { cached_tokens: 2003, prompt_tokens_details: { cached_tokens: 2003 } }],
    ["mistral", { model: "mistral-medium-latest" }, { num_cached_tokens: 1984 }],
    ["mistral", { model: "mistral-large-latest" }, { prompt_tokens_details: { cached_tokens: 1984 } }],
    ["zai", {}, { prompt_tokens_details: { cached_tokens: 1984 } }],
    ["minimax", {}, { prompt_tokens_details: { cached_tokens: 2003 } }],
    ["openrouter", { model: "openai/gpt-5.6" }, { prompt_tokens_details: { cached_tokens: 2003 } }],
  ])("is reported by %s in its own field", async (provider, more, counts) => {
    expect((await twice(provider, { ...long, ...more }))[1]).toMatchObject(counts);
  });

  it("needs cache points for Claude behind OpenRouter, which may move", async () => {
    const { ask } = createClient("openrouter");
    const text = (words: string): Json => ({ type: "text", text: words });
    const marked = (part: Json): Json => ({ ...part, cache_control: { type: "ephemeral" } });
    const parts = [text(longText(2000)), text("and this")];
    const details = async (content: readonly Json[]): Promise<unknown> =>
      usageIn((await ask({ messages: [user(content)] })).body)["prompt_tokens_details"];

    expect(await details(parts)).toMatchObject({ cached_tokens: 0, cache_write_tokens: 0 });
    expect(await details(parts)).toMatchObject({ cached_tokens: 0, cache_write_tokens: 0 });
    expect(await details([marked(parts[0] ?? {}), parts[1] ?? {}])).toMatchObject({
      cached_tokens: 0,
      cache_write_tokens: 2003,
    });
    expect(await details([parts[0] ?? {}, marked(parts[1] ?? {})])).toMatchObject({
      cached_tokens: 2003,
      cache_write_tokens: 2,
    });
  });
});

describe("reasoning of earlier messages", () => {
  const withThought = (field: string): Json => ({
    messages: [user("one"), { role: "assistant", content: "two", [field]: longText(500) }, user("three")],
  });

  it.each([
    ["deepseek", "reasoning_content", 512],
    ["kimi", "reasoning_content", 512],
    ["zai", "reasoning_content", 512],
    ["groq", "reasoning", 512],
    ["openai-chat", "reasoning_content", 12],
    ["qwen", "reasoning_content", 12],
  ])("is billed at %s where it is read again", async (provider, field, tokens) => {
    const { ask } = createClient(provider);

    expect(usageIn((await ask(withThought(field))).body)["prompt_tokens"]).toBe(tokens + 1);
  });
});
