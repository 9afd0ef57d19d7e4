import { describe, expect, it } from "vitest";
import type { Conversation } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { providers } from "./all.ts";
import { renderRequest } from "./request.ts";
import { findModelFacts, listModelFacts } from "./models.ts";

const conversation: Conversation = {
  version: 1,
  entries: [{ type: "user", parts: [{ type: "text", text: "hello" }] }],
  blobs: {},
};

/** The output limit in a body, under the API's own field name. */
const limitIn = (whole: JsonObject): unknown => {
  // Code Assist wraps the Gemini request in an envelope.
  const body = (whole["request"] ?? whole) as JsonObject;
  const [config, inference] = [body["generationConfig"], body["inferenceConfig"]] as (JsonObject | undefined)[];
  return (
    body["max_tokens"] ??
    body["max_completion_tokens"] ??
    body["max_output_tokens"] ??
    config?.["maxOutputTokens"] ??
    inference?.["maxTokens"]
  );
};

const models = providers.flatMap(({ id }) => listModelFacts(id).map((facts) => `${id}/${facts.id}`));

describe("the output limit", () => {
  it("is the model's maximum, or left to the API, for every known model of every provider", () => {
    const wrong = models.flatMap((name) => {
      const [provider = "", ...model] = name.split("/");
      const limit = limitIn(renderRequest(conversation, name).body);
      const { maxOutput, known } = findModelFacts(provider, model.join("/"));
      const isRight = limit === undefined ? provider !== "anthropic" : limit === maxOutput || maxOutput === 8192;
      return known && isRight ? [] : [`${name}: ${String(limit)} instead of ${maxOutput}`];
    });
    expect(wrong).toEqual([]);
  });

  it.each([
    ["claude-3-haiku-20240307", 4096],
    ["claude-3-5-sonnet-20241022", 8192],
    ["claude-3-7-sonnet-20250219", 64_000],
    ["claude-sonnet-4-20250514", 64_000],
    ["claude-sonnet-4-0", 64_000],
    ["claude-opus-4-20250514", 32_000],
    ["claude-opus-4-1-20250805", 32_000],
    ["claude-opus-4-5", 64_000],
    ["claude-haiku-4-5", 64_000],
    ["claude-sonnet-5", 128_000],
    ["claude-mythos-5-2", 128_000],
  ])("of %s is %i", (model, limit) => {
    expect(limitIn(renderRequest(conversation, `anthropic/${model}`).body)).toBe(limit);
  });

  it("is lowered to the rest of the context window, and to the model's maximum", () => {
    const write = (settings: object): unknown =>
      limitIn(renderRequest(conversation, "anthropic/claude-sonnet-4-5", { settings }).body);
    expect([
      write({ contextLeft: 20_000 }),
      write({ contextLeft: 90_000 }),
      write({ maxTokens: 100_000 }),
      write({ maxTokens: 3000, contextLeft: 2000 }),
    ]).toEqual([20_000, 64_000, 64_000, 2000]);
  });

  it.each(providers.map(({ id }) => id))("of %s can be set", (id) => {
    expect(limitIn(renderRequest(conversation, id, { settings: { maxTokens: 1000 } }).body)).toBe(1000);
  });

  it("leaves room for the output beside a default thinking budget", () => {
    const write = (settings: object) =>
      renderRequest(conversation, "anthropic/claude-haiku-4-5", { settings }).body["thinking"];
    expect([
      write({ thinking: { effort: "high" } }),
      write({ thinking: { effort: "high" }, maxTokens: 8000 }),
      write({ thinking: { effort: "high", budget: 7000 }, maxTokens: 8000 }),
    ]).toEqual([16_384, 4000, 7000].map((budget_tokens) => ({ type: "enabled", budget_tokens })));
  });
});
