import Anthropic from "@anthropic-ai/sdk";
import Anthropic2023 from "anthropic-sdk-2023";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { anthropicCases } from "../../src/rules/anthropic/rules.cases.ts";
import { openAnthropic, openAnthropic2023 } from "./anthropic.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testSeals, testFailures } from "./client-tests.ts";
import { withServer, type SceneServer } from "./server.ts";

// Both clients warn about deprecated models.
beforeAll(() => void vi.spyOn(console, "warn").mockReturnValue());
afterAll(() => vi.restoreAllMocks());

const clients = [
  { version: "2026-10-21", open: openAnthropic, errors: Anthropic },
  { version: "2023-06-01", open: openAnthropic2023, errors: Anthropic2023 },
] as const;

/** Differences between what Anthropic's clients send and what Parley sends. */
const listed = {
  "~ /body/system": "A string is short for one block of text. Parley writes the block, which can carry a cache mark.",
  "~ /body/messages/0/content": "The same.",
  "~ /body/messages/2/content/1/content": "The same, in a result.",
  "+ /body/thinking/display": "Asks to see the thought, which the scene wants. Parley sends sealed ones back unread.",
  "~ /body/messages/1/content/0/thinking": "The thought that was seen.",
  "+ /body/messages/1/content/2/caller":
    "The client sends back who called: the model itself, which is understood without.",
  "+ /body/messages/1/content/3/caller": "The same.",
};

describe.each(clients)("Anthropic's client for version $version", ({ version, open, errors }) => {
  const cast: SceneSetup = { provider: "anthropic", model: "claude-sonnet-5", open };
  const environment = ({ base }: SceneServer) => ({
    ANTHROPIC_BASE_URL: base,
    ANTHROPIC_API_KEY: "key-1",
    PARLEY_ANTHROPIC_VERSION: version,
  });
  const is =
    (kind: "BadRequestError" | "AuthenticationError" | "RateLimitError" | "NotFoundError" | "APIError", type: string) =>
    (error: unknown): boolean =>
      error instanceof errors[kind] && error.message.includes(`"type":"${type}"`);

  testScene({ ...cast, finish: ["tool_use", "end_turn"] });
  testSameRequests(cast, environment, listed);
  testSeals(cast, is("BadRequestError", "invalid_request_error"));
  testFailures(cast, {
    "a wrong key": is("AuthenticationError", "authentication_error"),
    "an unknown model": is("NotFoundError", "not_found_error"),
    "too many requests": is("RateLimitError", "rate_limit_error"),
    "an overloaded server": is("APIError", "overloaded_error"),
    "an error inside a stream": is("APIError", "overloaded_error"),
  });

  it("counts tokens and lists models", async () => {
    const told = await withServer({ provider: "anthropic" }, async ({ base }) => {
      const { messages, models } = new errors({ baseURL: base, apiKey: "key-1", maxRetries: 0 });
      const counted = await messages.countTokens({
        model: "claude-sonnet-5",
        messages: [{ role: "user", content: "four words of text" }],
      });
      const { display_name } = await models.retrieve("claude-sonnet-5");
      const listed: string[] = [];
      for await (const { id } of models.list()) listed.push(id);
      return { counted: counted.input_tokens > 0, display_name, isListed: listed.includes("claude-sonnet-5") };
    });
    expect(told).toEqual({ counted: true, display_name: "Claude Sonnet 5", isListed: true });
  });

  testRefusals({
    wire: "anthropic",
    cases: anthropicCases,
    open: () => open,
    isRefusal: (error, status, words) =>
      error instanceof errors.BadRequestError &&
      error.status === status &&
      error.message.includes(JSON.stringify(words).slice(1, -1)),
    exceptions: { mended: [], unsent: ["anthropic/tool-shape: tools as a map"] },
    atLeast: 100,
  });
});
