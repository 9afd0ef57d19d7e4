import { describe, expect, it } from "vitest";
import { chatUsage } from "./decode-usage.ts";

const none = { input: 0, cachedRead: 0, cachedWrite: 0, output: 0, reasoning: 0 };

describe("tokens", () => {
  it.each([
    [
      "of OpenAI",
      {
        prompt_tokens: 100,
        completion_tokens: 50,
        total_tokens: 150,
        prompt_tokens_details: { cached_tokens: 64, cache_write_tokens: 30, audio_tokens: 12, image_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 3 },
      },
      { input: 100, cachedRead: 64, cachedWrite: 30, output: 50, reasoning: 20, inputBy: { audio: 12 } },
    ],
    [
      "of DeepSeek, which counts hits and misses",
      { prompt_cache_hit_tokens: 60, prompt_cache_miss_tokens: 40, completion_tokens: 5 },
      { ...none, input: 100, cachedRead: 60, output: 5 },
    ],
    [
      "of Kimi",
      { prompt_tokens: 10, completion_tokens: 5, cached_tokens: 8 },
      { ...none, input: 10, cachedRead: 8, output: 5 },
    ],
    ["of Mistral", { prompt_tokens: 10, num_cached_tokens: 9 }, { ...none, input: 10, cachedRead: 9 }],
    [
      "of Qwen",
      {
        prompt_tokens: 30,
        completion_tokens: 1,
        prompt_tokens_details: { cache_creation_input_tokens: 20, text_tokens: 10, video_tokens: 20 },
      },
      { ...none, input: 30, cachedWrite: 20, output: 1, inputBy: { text: 10, video: 20 } },
    ],
    [
      "of xAI, which counts reasoning beside the answer",
      {
        prompt_tokens: 10,
        completion_tokens: 5,
        total_tokens: 35,
        completion_tokens_details: { reasoning_tokens: 20 },
      },
      { ...none, input: 10, output: 25, reasoning: 20 },
    ],
    [
      "with more reasoning than answer, and no total",
      { prompt_tokens: 10, completion_tokens: 5, reasoning_tokens: 20 },
      { ...none, input: 10, output: 25, reasoning: 20 },
    ],
    [
      "with more reasoning than answer, against the total",
      { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, reasoning_tokens: 6 },
      { ...none, input: 10, output: 5, reasoning: 5 },
    ],
    ["below zero, or as words", { prompt_tokens: -3, completion_tokens: "7" }, none],
  ])("are counted the same way: %s", (_name, usage, expected) => {
    expect(chatUsage({ usage })).toEqual(expected);
  });

  it("are found wherever a server puts them", () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 };
    const expected = { ...none, input: 3, output: 2 };

    expect(chatUsage({ choices: [], usage })).toEqual(expected);
    expect(chatUsage({ choices: [{ usage }], usage: null })).toEqual(expected);
    expect(chatUsage({ x_groq: { id: "req_1", usage } })).toEqual(expected);
  });

  it("are not made up", () => {
    expect(chatUsage({})).toBeUndefined();
    expect(chatUsage({ usage: { total_tokens: 0, total_characters: 0 } })).toBeUndefined();
    expect(chatUsage({ usage: "many", x_groq: { id: "req_1" } })).toBeUndefined();
  });
});
