import { describe, expect, it } from "vitest";
import { findProvider } from "../src/providers/find.ts";
import { lint } from "../src/rules/lint.ts";
import { composeRequest } from "../src/wire/compose.ts";
import { buildHistory, makeHistory } from "./support/histories.ts";
import { makeSettings } from "./support/properties.ts";
import { perTier, seedFor } from "./support/tier.ts";

const histories = perTier({ quick: 5, all: 30 });

/** Models in use, old and new, and some unknown ones. */
const models: Readonly<Record<string, readonly string[]>> = {
  google: [
    "gemini-3-pro-preview",
    "gemini-3.1-pro-preview",
    "gemini-flash-latest",
    "gemini-4-argon",
    "gemma-4-27b",
    "gemini-2.0-flash",
    "models/gemini-3.8-flash",
    "gemini-2.5-computer-use-preview-10-2025",
    "gemini-2.5-flash-image",
    "gemini-3-pro-image",
  ],
  vertex: ["gemini-2.5-pro", "gemini-3.5-flash", "projects/p/locations/l/publishers/google/models/gemini-3-pro"],
  "code-assist": ["gemini-2.5-pro", "gemini-3-pro-preview"],
  anthropic: [
    "claude-fable-5-2",
    "claude-mythos-5",
    "claude-opus-5",
    "claude-opus-5-5",
    "claude-haiku-5-5",
    "claude-opus-4-8",
    "claude-opus-4-6",
    "claude-sonnet-4-6",
    "claude-sonnet-4-5",
    "claude-opus-4-1-20250805",
    "claude-sonnet-4-20250514",
    "claude-3-7-sonnet-20250219",
    "claude-3-haiku-20240307",
  ],
  bedrock: [
    "amazon.nova-pro-v1:0",
    "amazon.nova-micro-v1:0",
    "meta.llama3-1-70b-instruct-v1:0",
    "us.meta.llama4-scout-17b-instruct-v1:0",
    "anthropic.claude-3-5-sonnet-20240620-v1:0",
    "us.anthropic.claude-opus-4-6-v1:0",
    "us.anthropic.claude-opus-5-5-v1:0",
    "mistral.mistral-large-2407-v1:0",
    "cohere.command-r-plus-v1:0",
    "deepseek.r1-v1:0",
    "openai.gpt-oss-120b-1:0",
    "moonshotai.kimi-k2.5",
    "ai21.jamba-1-5-large-v1:0",
  ],
  openai: [
    "gpt-4.1",
    "o3",
    "o4-mini",
    "o3-mini",
    "gpt-5.3-codex",
    "gpt-5",
    "gpt-4o-mini",
    "o1",
    "gpt-6",
    "gpt-5-chat-latest",
  ],
  "openai-chat": [
    "gpt-5.4-mini",
    "gpt-5.5",
    "gpt-5.6-terra",
    "gpt-5-chat-latest",
    "gpt-5.2",
    "gpt-5.2-chat-latest",
    "gpt-4.1",
    "o3-mini",
    "o4-mini",
    "gpt-5",
    "gpt-4o-mini",
    "o1-preview",
    "gpt-3.5-turbo",
    "gpt-6",
  ],
  xai: ["grok-4", "grok-3", "grok-4.3", "grok-3-mini", "grok-code-fast-1", "grok-4-fast-reasoning"],
  groq: ["llama-3.3-70b-versatile", "qwen/qwen3-32b", "meta-llama/llama-4-maverick-17b-128e-instruct", "new-model"],
  openrouter: ["openai/gpt-5.6", "google/gemini-3.8-flash", "deepseek/deepseek-v4", "moonshotai/kimi-k3"],
  kimi: ["kimi-k2.5", "kimi-k2.6", "kimi-k2-thinking", "kimi-k2-turbo-preview", "moonshot-v1-8k", "kimi-latest"],
  mistral: ["mistral-small-latest", "ministral-8b-latest", "magistral-medium-latest", "pixtral-large-latest"],
  deepseek: ["deepseek-reasoner", "deepseek-v4", "deepseek-v4-pro"],
  azure: ["my-deployment", "gpt-4o", "o3"],
  qwen: ["qwen-plus", "qwen3-coder-plus", "qwen-vl-max", "qwen3.5-plus", "qwq-plus"],
  zai: ["glm-4.6", "glm-4.5-air", "glm-5", "glm-4.6v"],
  minimax: ["MiniMax-M1", "MiniMax-M3"],
  cohere: ["command-r-plus", "command-a-vision-07-2025"],
  local: ["llama3.3", "gemma3:27b", "gpt-oss:20b", "deepseek-r1", "kimi-k2", "qwen3-vl:8b"],
};

const named = Object.entries(models).flatMap(([id, names]) => names.map((model) => ({ id, model })));

describe.each(named)("$id/$model", ({ id, model }) => {
  it("accepts any conversation with any settings", () => {
    const provider = findProvider(id);
    const first = seedFor(1);
    for (let seed = first; seed < first + histories; seed++) {
      const { body } = composeRequest(buildHistory(makeHistory(seed)).conversation, provider.destination(model), {
        policy: { unsupportedMedia: "stub" },
        settings: makeSettings(seed),
      });
      const errors = lint(body, { wire: provider.wire, provider: id, model }).filter(({ level }) => level === "error");
      expect(errors, `history ${seed}`).toEqual([]);
    }
  });

  it("accepts a limit of one token", () => {
    const provider = findProvider(id);
    const conversation = {
      version: 1,
      entries: [{ type: "user", parts: [{ type: "text", text: "Hi." }] }],
      blobs: {},
    } as const;
    const { body } = composeRequest(conversation, provider.destination(model), { settings: { maxTokens: 1 } });
    const errors = lint(body, { wire: provider.wire, provider: id, model }).filter(({ level }) => level === "error");
    expect(errors).toEqual([]);
  });
});
