import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { openaiResponsesCases } from "../../src/rules/openai-responses/rules.cases.ts";
import type { OpenClient } from "./client.ts";
import { openResponses, openXai } from "./openai-responses.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testSeals, testFailures } from "./client-tests.ts";
import { withServer } from "./server.ts";

const cast: SceneSetup = { provider: "openai", model: "gpt-5.6", open: openResponses };

/** The base URL from Azure's guides. */
const openAzure: OpenClient = ({ origin }, model) => openResponses({ origin, base: `${origin}/openai/v1` }, model);

/** Differences between what OpenAI's client sends and what Parley sends. */
const listed = {
  "+ /body/reasoning/summary": "Asks to see the thought in short, which the scene wants.",
  "+ /body/input/1/summary/0": "The short form that was seen. Parley sends the sealed thought alone.",
  "+ /body/input/2/content/0/logprobs": "An empty list that says nothing.",
  "+ /body/input/3/id":
    "The item's own id, which nothing refers to. Parley sends `call_id`, which results do refer to.",
  "+ /body/input/4/id": "The same.",
  "+ /body/input/3/status": "A call that is sent back is complete.",
  "+ /body/input/4/status": "The same.",
};

type Kind = "BadRequestError" | "AuthenticationError" | "RateLimitError" | "InternalServerError";

const is =
  (kind: Kind, words: string) =>
  (error: unknown): boolean =>
    error instanceof OpenAI[kind] && error.message.includes(words);

describe("OpenAI's client at Responses", () => {
  testScene({ ...cast, finish: ["completed", "completed"] });
  testSameRequests(cast, ({ base }) => ({ OPENAI_BASE_URL: base, OPENAI_API_KEY: "key-1" }), listed);
  testSeals(cast, is("BadRequestError", "could not be verified"));
  testFailures(cast, {
    "a wrong key": is("AuthenticationError", "Incorrect API key provided"),
    "an unknown model": is("BadRequestError", "'no-such-model' does not exist"),
    "too many requests": is("RateLimitError", "Rate limit"),
    "an overloaded server": is("InternalServerError", "Overloaded"),
    // The client's helper returns the event itself.
    "an error inside a stream": (event) =>
      typeof event === "object" && event !== null && "message" in event && event.message === "Overloaded",
  });

  it("counts tokens and lists models", async () => {
    const told = await withServer({ provider: "openai" }, async ({ base }) => {
      const { responses, models } = new OpenAI({ baseURL: base, apiKey: "key-1", maxRetries: 0 });
      const counted = await responses.inputTokens.count({ model: "gpt-5.6", input: "four words of text" });
      const { object } = await models.retrieve("gpt-5.6");
      const listed: string[] = [];
      for await (const { id } of models.list()) listed.push(id);
      return { counted: counted.input_tokens > 0, object, isListed: listed.includes("gpt-5.6") };
    });
    expect(told).toEqual({ counted: true, object: "model", isListed: true });
  });
});

describe("OpenAI's client at Azure", () => {
  testScene({ provider: "azure", model: "gpt-5.6", open: openAzure, finish: ["completed", "completed"] });
});

describe("OpenAI's client at xAI", () => {
  testScene({ provider: "xai", model: "grok-4.6", open: openXai, finish: ["completed", "completed"] });
});

describe("OpenAI's client with refused requests", () => {
  testRefusals({
    wire: "openai-responses",
    cases: openaiResponsesCases,
    open: (provider) => (provider === "azure" ? openAzure : openResponses),
    isRefusal: (error, status, words) => is("BadRequestError", words)(error) && status === 400,
    exceptions: { mended: [], unsent: [] },
    atLeast: 110,
  });
});
