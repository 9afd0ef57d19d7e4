import { OpenRouter } from "@openrouter/sdk";
import {
  BadRequestResponseError,
  OpenRouterError,
  ProviderOverloadedResponseError,
  TooManyRequestsResponseError,
  UnauthorizedResponseError,
} from "@openrouter/sdk/models/errors";
import { describe, expect, it } from "vitest";
import { openaiChatCases } from "../../src/rules/openai-chat/rules.cases.ts";
import { openOpenRouter } from "./openrouter.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testSeals, testFailures } from "./client-tests.ts";
import { withServer } from "./server.ts";

const cast: SceneSetup = { provider: "openrouter", model: "anthropic/claude-sonnet-5", open: openOpenRouter };

/** Differences between what OpenRouter's client sends and what Parley sends. */
const listed = {
  "- /body/stream_options": "Parley asks for counts, as other vendors of this API demand; OpenRouter always counts.",
  "~ /body/messages/2/reasoning_details/0/signature": "Made for a request with other settings.",
};

const is =
  (kind: abstract new (...given: never[]) => Error, status: number, words: string) =>
  (error: unknown): boolean =>
    error instanceof OpenRouterError &&
    error instanceof kind &&
    error.statusCode === status &&
    error.message.includes(words);

describe("OpenRouter's client", () => {
  testScene({ ...cast, finish: ["tool_calls", "stop"] });
  testSameRequests(cast, ({ base }) => ({ PARLEY_OPENROUTER_BASE_URL: base, OPENROUTER_API_KEY: "key-1" }), listed);
  testSeals(cast, is(BadRequestResponseError, 400, ""));
  testFailures(cast, {
    "a wrong key": is(UnauthorizedResponseError, 401, "User not found."),
    "an unknown model": is(BadRequestResponseError, 400, "no-such-model is not a valid model ID"),
    "too many requests": is(TooManyRequestsResponseError, 429, "Rate limit"),
    "an overloaded server": is(ProviderOverloadedResponseError, 529, "Overloaded"),
    // It is an event, which the client returns like any other.
    "an error inside a stream": (error) => error instanceof Error && error.message === "Overloaded",
  });

  it("lists models", async () => {
    const listed = await withServer({ provider: "openrouter" }, ({ base }) =>
      new OpenRouter({ serverURL: base, apiKey: "key-1", retryConfig: { strategy: "none" } }).models.list(),
    );
    expect(listed.result.data.map(({ id }) => id)).toContain("anthropic/claude-sonnet-5");
  });
});

describe("OpenRouter's client with a model of OpenAI", () => {
  testScene({ ...cast, model: "openai/gpt-5.6", finish: ["tool_calls", "stop"] });
});

describe("OpenRouter's client with a model of Google", () => {
  testScene({ ...cast, model: "google/gemini-3.1-pro-preview", finish: ["tool_calls", "stop"] });
});

describe("OpenRouter's client with refused requests", () => {
  testRefusals({
    wire: "openai-chat",
    cases: openaiChatCases,
    providers: ["openrouter"],
    open: () => openOpenRouter,
    isRefusal: (error, status, words) => is(BadRequestResponseError, status, words)(error),
    exceptions: {
      mended: ["openai-chat/effort-and-budget: both"],
      unsent: ["openai-chat/duplicate-reasoning-id: one id in two messages"],
    },
    atLeast: 1,
  });
});
