import { describe, expect, it } from "vitest";
import type { Environment } from "../../world/world.ts";
import { compareModels } from "./match.ts";
import { loadModel, modelName } from "./name.ts";

const keys = {
  anthropic: { ANTHROPIC_API_KEY: "k" },
  openai: { OPENAI_API_KEY: "k" },
  google: { GEMINI_API_KEY: "k" },
  openrouter: { OPENROUTER_API_KEY: "k" },
};
const everything: Environment = { ...keys.anthropic, ...keys.openai, ...keys.google };

const load = async (name: string, env: Environment): Promise<string> =>
  loadModel(name, env).then(modelName, (error: unknown) => (error instanceof Error ? error.message : String(error)));

describe("a short name of a model", () => {
  it.each([
    ["sonnet", everything, "anthropic/claude-sonnet-5"],
    ["opus", everything, "anthropic/claude-opus-5-5"],
    ["haiku", everything, "anthropic/claude-haiku-5-5"],
    ["sonnet-4-5", everything, "anthropic/claude-sonnet-4-5"],
    ["Sonnet 4.6", everything, "anthropic/claude-sonnet-4-6"],
    ["gpt-5", everything, "openai/gpt-5"],
    ["gpt5", keys.openai, "openai/gpt-5.6"],
    ["gpt5.4", keys.openai, "openai/gpt-5.4"],
    ["no such", everything, expect.stringMatching(/^There is no provider or model "no such"\. Known: google, /)],
    ["sonet", everything, 'There is no model "sonet". Did you mean sonnet?'],
    ["antropic", everything, 'There is no provider "antropic". Did you mean anthropic?'],
    ["gpt", everything, "openai/gpt-5.6"],
    ["gpt-5-mini", everything, "openai/gpt-5-mini"],
    ["codex", everything, "openai/gpt-5.3-codex"],
    ["gemini", everything, "google/gemini-3.8-flash"],
    ["flash", everything, "google/gemini-3.8-flash"],
    ["flash-lite", everything, "google/gemini-3.5-flash-lite"],
    ["sonnet", keys.openrouter, expect.stringMatching(/^openrouter\/anthropic\/claude-sonnet/)],
    ["anthropic", everything, "anthropic/claude-sonnet-5"],
    ["anthropic/anything", everything, "anthropic/anything"],
  ])("%s", async (name, env, expected) => {
    expect(await load(name, env)).toEqual(expected);
  });

  it("is never a guess between two providers: the models are listed", async () => {
    expect(await load("sonnet", { ...keys.anthropic, ...keys.openrouter })).toMatch(
      /^"sonnet" could be a model of several providers\. Name one:\n {2}anthropic\/claude-sonnet-5\n {2}openrouter\/\S+$/,
    );
  });

  it("is not a model of a provider without a key: the variables are listed", async () => {
    const message = await load("gpt-5", keys.anthropic);
    expect(message).toContain('No key for a provider of "gpt-5".');
    expect(message).toContain("\n  openai/gpt-5  (needs OPENAI_API_KEY)\n");
    expect(message).not.toContain("openai-chat/");
  });
});

describe("model ids", () => {
  it("are ordered by version, the highest first, whatever date they have", () => {
    const ids = ["gpt-4o-2024-05-13", "gpt-4.1", "gpt-5-preview-10-2025", "gpt-5.6", "gpt-6"];
    expect(ids.toSorted(compareModels)).toEqual([
      "gpt-6",
      "gpt-5.6",
      "gpt-5-preview-10-2025",
      "gpt-4.1",
      "gpt-4o-2024-05-13",
    ]);
  });
});
