import { describe, expect, it } from "vitest";
import { createPromptCache } from "./prompt-cache.ts";
import type { CacheRule, PromptUnit } from "./family.ts";

const marked: CacheRule = { mode: "marked", minTokens: 1000, stepTokens: 1 };
const automatic: CacheRule = { mode: "automatic", minTokens: 1024, stepTokens: 128 };

const unit = (content: string, tokens: number): PromptUnit => ({
  content,
  tokens: { text: tokens },
  isCachePoint: false,
});
const mark = (content: string, tokens: number, keep?: number): PromptUnit => ({
  ...unit(content, tokens),
  isCachePoint: true,
  ...(keep === undefined ? {} : { ttlSeconds: keep }),
});

describe("a cache with explicit cache points", () => {
  it("writes the prefix up to the last cache point, and reads it the next time", () => {
    const cache = createPromptCache();
    const units = [unit("tools", 600), mark("system", 600), unit("question", 50)];
    expect(cache.readAndStore("m", units, marked, 0)).toEqual({ read: 0, written: 1200 });
    expect(cache.readAndStore("m", units, marked, 0)).toEqual({ read: 1200, written: 0 });
  });

  it("reads the longest stored prefix and writes only the rest", () => {
    const cache = createPromptCache();
    cache.readAndStore("m", [mark("system", 1200), unit("question", 50)], marked, 0);
    const longer = [mark("system", 1200), unit("question", 50), unit("answer", 70), mark("next", 30)];
    expect(cache.readAndStore("m", longer, marked, 0)).toEqual({ read: 1200, written: 150 });
    expect(cache.readAndStore("m", longer, marked, 0)).toEqual({ read: 1350, written: 0 });
  });

  it("finds an earlier cache point up to 20 units back", () => {
    const filling = (count: number): readonly PromptUnit[] =>
      Array.from({ length: count }, (_, index) => unit(`${index}`, 1));
    for (const [count, read] of [
      [19, 1200],
      [20, 0],
    ] as const) {
      const cache = createPromptCache();
      cache.readAndStore("m", [mark("system", 1200)], marked, 0);
      expect(cache.readAndStore("m", [unit("system", 1200), ...filling(count), mark("end", 1)], marked, 0).read).toBe(
        read,
      );
    }
  });

  it("stores nothing below the minimum size", () => {
    const cache = createPromptCache();
    expect(cache.readAndStore("m", [mark("system", 999)], marked, 0)).toEqual({ read: 0, written: 0 });
    expect(cache.readAndStore("m", [mark("system", 999)], marked, 0)).toEqual({ read: 0, written: 0 });
  });

  it("reads nothing without a cache point, after a change, or for another model", () => {
    const cache = createPromptCache();
    cache.readAndStore("m", [unit("tools", 600), mark("system", 600)], marked, 0);
    expect(cache.readAndStore("m", [unit("tools", 600), unit("system", 600)], marked, 0).read).toBe(0);
    expect(cache.readAndStore("m", [unit("other tools", 600), mark("system", 600)], marked, 0).read).toBe(0);
    expect(cache.readAndStore("n", [unit("tools", 600), mark("system", 600)], marked, 0).read).toBe(0);
  });

  it("expires after five minutes without use, and after one hour if the cache point says so", () => {
    const minutes = (count: number): number => count * 60_000;
    const cache = createPromptCache();
    const short = [mark("short", 1200)];
    const long = [mark("long", 1200, 3600)];
    cache.readAndStore("m", short, marked, 0);
    cache.readAndStore("m", long, marked, 0);
    expect(cache.readAndStore("m", short, marked, minutes(4)).read).toBe(1200);
    expect(cache.readAndStore("m", short, marked, minutes(8)).read).toBe(1200);
    expect(cache.readAndStore("m", short, marked, minutes(13)).read).toBe(0);
    expect(cache.readAndStore("m", long, marked, minutes(59)).read).toBe(1200);
    expect(cache.readAndStore("m", long, marked, minutes(119)).read).toBe(0);
  });
});

describe("an automatic cache", () => {
  it("reads the common prefix in whole steps, from the minimum size on", () => {
    const cache = createPromptCache();
    expect(cache.readAndStore("m", [unit("system", 1100), unit("one", 100)], automatic, 0)).toEqual({
      read: 0,
      written: 1152,
    });
    expect(cache.readAndStore("m", [unit("system", 1100), unit("two", 100)], automatic, 0)).toEqual({
      read: 1024,
      written: 128,
    });
    expect(cache.readAndStore("m", [unit("system", 1100), unit("one", 100)], automatic, 0)).toEqual({
      read: 1152,
      written: 0,
    });
  });

  it("does nothing below the minimum size", () => {
    const cache = createPromptCache();
    expect(cache.readAndStore("m", [unit("system", 1023)], automatic, 0)).toEqual({ read: 0, written: 0 });
    expect(cache.readAndStore("m", [unit("system", 1023)], automatic, 0)).toEqual({ read: 0, written: 0 });
  });
});

it("a provider without a cache neither reads nor writes", () => {
  const cache = createPromptCache();
  const none: CacheRule = { mode: "none", minTokens: 0, stepTokens: 1 };
  cache.readAndStore("m", [mark("system", 5000)], none, 0);
  expect(cache.readAndStore("m", [mark("system", 5000)], none, 0)).toEqual({ read: 0, written: 0 });
});
