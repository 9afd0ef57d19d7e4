import { Mistral } from "@mistralai/mistralai";
import { SDKError } from "@mistralai/mistralai/models/errors";
import { describe, expect, it } from "vitest";
import { openaiChatCases } from "../../src/rules/openai-chat/rules.cases.ts";
import { openMistral } from "./mistral.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testFailures } from "./client-tests.ts";
import { withServer } from "./server.ts";

const cast: SceneSetup = { provider: "mistral", model: "magistral-medium-latest", open: openMistral };

/** Differences between what Mistral's client sends and what Parley sends. */
const listed = {
  "+ /body/messages/2/prefix": "A default that the client always writes.",
  "+ /body/messages/2/tool_calls/0/index": "The same: every call has the number 0.",
  "+ /body/messages/2/tool_calls/1/index": "The same.",
};

const is =
  (status: number, words: string) =>
  (error: unknown): boolean =>
    error instanceof SDKError && error.statusCode === status && error.body.includes(JSON.stringify(words).slice(1, -1));

describe("Mistral's client", () => {
  testScene({ ...cast, finish: ["tool_calls", "stop"] });
  testSameRequests(cast, ({ base }) => ({ MISTRAL_BASE_URL: base, MISTRAL_API_KEY: "key-1" }), listed);
  testFailures(cast, {
    "a wrong key": is(401, "Unauthorized"),
    "an unknown model": is(400, "Invalid model: no-such-model"),
    "too many requests": is(429, "Rate limit"),
    "an overloaded server": is(529, "Overloaded"),
    // The client expects an event with an id.
    "an error inside a stream": (error) => error instanceof Error && error.name === "ZodError",
  });

  it("lists models", async () => {
    const listed = await withServer({ provider: "mistral" }, ({ origin }) =>
      new Mistral({ serverURL: origin, apiKey: "key-1", retryConfig: { strategy: "none" } }).models.list(),
    );
    expect(listed.data?.map((model) => "id" in model && model.id)).toContain("magistral-medium-latest");
  });
});

describe("Mistral's client with refused requests", () => {
  testRefusals({
    wire: "openai-chat",
    cases: openaiChatCases,
    providers: ["mistral"],
    open: () => openMistral,
    isRefusal: (error, status, words) => is(status, words)(error),
    exceptions: {
      mended: [
        "openai-chat/reasoning-field: the field of DeepSeek",
        "openai-chat/reasoning-field: the field of Groq",
        "openai-chat/unknown-field: a name",
        "openai-chat/unknown-field: a setting of OpenAI",
        "openai-chat/unknown-field: a null that it does not know",
        "openai-chat/model-features: probabilities",
      ],
      unsent: [
        "openai-chat/shape: an empty image part",
        "openai-chat/arguments-type: arguments that are a list",
        "openai-chat/mistral-call-id: no model named",
        "openai-chat/user-part: a film",
        "openai-chat/unsupported-role: the role of OpenAI",
      ],
    },
    atLeast: 17,
  });
});
