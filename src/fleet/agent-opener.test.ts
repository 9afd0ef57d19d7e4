import { expect, it } from "vitest";
import type { NewRecord } from "../session/log/record.ts";
import { costOfRecord } from "./agent-opener.ts";

const requestTo = (provider: string, model: string): NewRecord => ({
  kind: "request",
  turn: 1,
  provider,
  model,
  notes: [],
  usage: { input: 1_000_000, cachedRead: 0, cachedWrite: 0, output: 1_000_000, reasoning: 0 },
});

it("a request costs by the price in the settings, else by the published one, else nothing", () => {
  const models = {
    "local/own": { price: { input: 3, output: 4 } },
    "openai/gpt-5.6": { price: { input: 1, output: 1 } },
  };
  expect(costOfRecord(requestTo("local", "own"), models)).toBe(7);
  expect(costOfRecord(requestTo("openai", "gpt-5.6"), models)).toBe(2);
  expect(costOfRecord(requestTo("openai", "gpt-5.6"))).toBeGreaterThan(2);
  expect(costOfRecord(requestTo("local", "own"))).toBe(0);
});
