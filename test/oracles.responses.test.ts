import { describe, expect, it } from "vitest";
import { responseOracles } from "../oracles/responses.ts";
import { checkResponse } from "../oracles/check.ts";
import type { Extension } from "../oracles/providers.ts";
import { isObject } from "../src/conversation/json.ts";
import { listSimulatedProviders } from "../src/sim/registry.ts";
import { findProvider } from "../src/providers/find.ts";
import { simulateResponses, scriptedReplies, type SimulatedResponseOptions } from "./support/simulated-responses.ts";

/*
 * What the simulators answer is read by the types in the vendors' own SDKs: no
 * field they do not know, none missing that they demand. Where live servers and
 * those types disagree, oracles/responses.ts says so.
 */

/** Models whose responses differ in form from their provider's default model. */
const others: { readonly [provider: string]: readonly string[] } = {
  google: ["gemini-2.5-flash", "gemini-4-argon"],
  vertex: ["gemini-2.5-pro", "gemini-4-argon"],
  "code-assist": ["gemini-2.5-pro", "gemini-4-argon"],
  anthropic: ["claude-fable-5-2", "claude-sonnet-4-5"],
  "anthropic-2026-10-21": ["claude-opus-5-5"],
  bedrock: ["us.amazon.nova-2-lite-v1:0", "us.meta.llama4-maverick-17b-instruct-v1:0", "openai.gpt-oss-120b-1:0"],
  openai: ["gpt-4o", "gpt-5.1-codex-max"],
  xai: ["grok-code-fast-1"],
  "openai-chat": ["gpt-4o-search-preview", "o3-mini"],
  groq: ["qwen/qwen3-32b", "llama-3.3-70b-versatile"],
  openrouter: ["openai/gpt-5.6", "google/gemini-3.1-pro-preview", "deepseek/deepseek-v4-flash"],
  kimi: ["kimi-k2-thinking", "moonshot-v1-128k"],
  mistral: ["magistral-medium-latest", "zai-glm-5-2"],
  deepseek: ["deepseek-reasoner"],
  minimax: ["MiniMax-M3"],
};

const asked = (name: string): { readonly id: string; readonly options: readonly SimulatedResponseOptions[] } => {
  const id = name.replace(/-2026-10-21$/, "");
  const env = name === id ? {} : { PARLEY_ANTHROPIC_VERSION: "2026-10-21" };
  const models = [findProvider(id).defaultModel, ...(others[name] ?? [])];
  return { id, options: models.map((model) => ({ model, env })) };
};

/** Code Assist wraps Vertex's response in an envelope. */
const unwrapped = (id: string, value: unknown): unknown =>
  id === "code-assist" && isObject(value) ? value["response"] : value;

/** The problems the types report in every kind of response of a provider. */
const problemsOf = async (name: string, judged: { readonly alone?: boolean } = {}): Promise<readonly string[]> => {
  const { id, options } = asked(name);
  const problems: string[] = [];
  for (const option of options)
    for (const [title, said] of Object.entries(scriptedReplies)) {
      const { whole, events } = await simulateResponses(id, said, option);
      const found = [
        ...checkResponse(name, "whole", unwrapped(id, whole), judged),
        ...events.flatMap((event) => checkResponse(name, "event", unwrapped(id, event), judged)),
      ];
      problems.push(...found.map((problem) => `${option.model}, ${title}: ${problem}`));
    }
  return problems;
};

const names = Object.keys(responseOracles);

describe("the vendors' own types", () => {
  it.each(names)("accept every response of the simulator of %s", async (name) => {
    expect(await problemsOf(name)).toEqual([]);
  });

  it.each(names)("have no unused extension for %s", async (name) => {
    const problems = (await problemsOf(name, { alone: true })).join("\n");
    const unused = (responseOracles[name]?.extensions ?? []).filter((extension) => !isNeeded(extension, problems));
    expect(unused).toEqual([]);
  });

  it("check every simulated provider", () => {
    expect(names.filter((name) => name !== "anthropic-2026-10-21").toSorted()).toEqual(
      listSimulatedProviders().toSorted(),
    );
  });

  it.each([
    ["a stop reason of another API", "anthropic", "whole", { stop_reason: "stop" }, '/stop_reason: "stop" is not'],
    ["an event of its own making", "openai", "event", { type: "response.done" }, '/type: "response.done" is not'],
    ["a field of another API", "google", "event", { choices: [] }, '/: unknown field "choices"'],
    ["a chunk without choices", "openai-chat", "event", { object: "chat.completion.chunk" }, '/: missing "choices"'],
    [
      "a block of another API",
      "bedrock",
      "event",
      { content_block_start: {} },
      '/: unknown field "content_block_start"',
    ],
  ] as const)("refuse %s (%s)", (_title, name, kind, answer, problem) => {
    expect(checkResponse(name, kind, answer).join("\n")).toContain(problem);
  });
});

const isNeeded = (extension: Extension, problems: string): boolean => {
  if ("optional" in extension) return problems.includes(`missing "${extension.optional}"`);
  if ("field" in extension)
    return (
      problems.includes(`unknown field "${extension.field}"`) || new RegExp(`/${extension.field}[/:]`).test(problems)
    );
  return problems.includes(`"${extension.alternative}"`);
};
