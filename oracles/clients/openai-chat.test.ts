import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { openaiChatCases } from "../../src/rules/openai-chat/rules.cases.ts";
import { openChat, openCompatible } from "./openai-chat.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testFailures } from "./client-tests.ts";
import { withServer } from "./server.ts";

const cast: SceneSetup = { provider: "openai-chat", model: "gpt-5.2", open: openChat };

/** Differences between what OpenAI's client sends and what Parley sends. */
const listed = {
  "- /body/tools/0/function/strict":
    "Parley says that a schema is not to be followed to the letter; that is the default.",
  "- /body/tools/1/function/strict": "The same.",
  "+ /body/messages/2/refusal": "A null that says nothing.",
  "+ /body/messages/2/parsed": "A null of the client's own making, which newer models pass over and older refuse.",
};

type Kind = "BadRequestError" | "AuthenticationError" | "RateLimitError" | "NotFoundError" | "APIError";

const is =
  (kind: Kind, words: string) =>
  (error: unknown): boolean =>
    error instanceof OpenAI[kind] && error.message.includes(words);

describe("OpenAI's client at Chat Completions", () => {
  // This API counts reasoning and never returns it.
  testScene({ ...cast, finish: ["tool_calls", "stop"], thought: "" });
  testSameRequests(cast, ({ base }) => ({ PARLEY_OPENAI_CHAT_BASE_URL: base, OPENAI_API_KEY: "key-1" }), listed);
  testFailures(cast, {
    "a wrong key": is("AuthenticationError", "Incorrect API key provided"),
    "an unknown model": is("NotFoundError", "The model `no-such-model` does not exist"),
    "too many requests": is("RateLimitError", "Rate limit"),
    "an overloaded server": is("APIError", "Overloaded"),
    "an error inside a stream": is("APIError", "Overloaded"),
  });

  it("lists models", async () => {
    const listed = await withServer({ provider: "openai-chat" }, async ({ base }) => {
      const names: string[] = [];
      const { models } = new OpenAI({ baseURL: base, apiKey: "key-1", maxRetries: 0 });
      for await (const { id } of models.list()) names.push(id);
      return names;
    });
    expect(listed).toContain("gpt-5.6");
  });
});

/** Vendors whose guides use OpenAI's client: the model, its reasoning field, and the settings that enable reasoning. */
const compatible = [
  ["kimi", "kimi-k2.6", "reasoning_content", { thinking: { type: "enabled" } }],
  ["deepseek", "deepseek-v4-flash-vision-exp", "reasoning_content", { thinking: { type: "enabled" } }],
  ["zai", "glm-4.6v", "reasoning_content", { thinking: { type: "enabled" } }],
  ["qwen", "qwen3-vl-plus", "reasoning_content", { enable_thinking: true }],
  ["minimax", "MiniMax-M3", "reasoning_content", { reasoning_split: true }],
  ["local", "qwen3-vl", "reasoning", {}],
  ["cohere", "command-a-vision-07-2025", undefined, {}],
] as const;

describe.each(compatible)("OpenAI's client at %s", (provider, model, field, settings) => {
  testScene({
    provider,
    model,
    open: openCompatible(field, settings),
    finish: ["tool_calls", "stop"],
    ...(field === undefined ? { thought: "" } : {}),
  });
});

/** Vendors whose error messages OpenAI's client does not find: it reports the status without a message. */
const wordless = ["cohere"];

describe("OpenAI's client with refused requests", () => {
  testRefusals({
    wire: "openai-chat",
    cases: openaiChatCases,
    providers: ["openai-chat", ...compatible.map(([provider]) => provider)],
    open: () => openChat,
    isRefusal: (error, status, words, provider) =>
      is("BadRequestError", wordless.includes(provider) ? "status code (no body)" : words)(error) && status === 400,
    exceptions: { mended: [], unsent: [] },
    atLeast: 150,
  });
});
