import Groq from "groq-sdk";
import { describe, expect, it } from "vitest";
import { openaiChatCases } from "../../src/rules/openai-chat/rules.cases.ts";
import { openGroq } from "./groq.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testFailures } from "./client-tests.ts";
import { withServer, type SceneServer } from "./server.ts";

const seeing: SceneSetup = {
  provider: "groq",
  model: "meta-llama/llama-4-scout-17b-16e-instruct",
  open: openGroq({ thinks: false, sees: true }),
};
const thinking: SceneSetup = {
  provider: "groq",
  model: "openai/gpt-oss-120b",
  open: openGroq({ thinks: true, sees: false }),
};

const environment = ({ origin }: SceneServer) => ({ GROQ_BASE_URL: origin, GROQ_API_KEY: "key-1" });

type Kind = "BadRequestError" | "AuthenticationError" | "RateLimitError" | "NotFoundError" | "APIError";

const is =
  (kind: Kind, words: string) =>
  (error: unknown): boolean =>
    error instanceof Groq[kind] && error.message.includes(JSON.stringify(words).slice(1, -1));

describe("Groq's client with a vision model", () => {
  testScene({ ...seeing, finish: ["tool_calls", "stop"] });
  testSameRequests(seeing, environment, {});
});

describe("Groq's client with a thinking model", () => {
  testScene({ ...thinking, finish: ["tool_calls", "stop"], picture: false });
  testFailures(thinking, {
    "a wrong key": is("AuthenticationError", "Invalid API Key"),
    "an unknown model": is("NotFoundError", "The model `no-such-model` does not exist"),
    "too many requests": is("RateLimitError", "Rate limit"),
    "an overloaded server": is("APIError", "Overloaded"),
    "an error inside a stream": is("APIError", "Overloaded"),
  });

  it("lists models", async () => {
    const listed = await withServer({ provider: "groq" }, ({ origin }) =>
      new Groq({ baseURL: origin, apiKey: "key-1", maxRetries: 0 }).models.list(),
    );
    expect(listed.data.map(({ id }) => id)).toContain("openai/gpt-oss-120b");
  });
});

describe("Groq's client with refused requests", () => {
  testRefusals({
    wire: "openai-chat",
    cases: openaiChatCases,
    providers: ["groq"],
    open: () => openGroq({ thinks: false, sees: false }),
    isRefusal: (error, status, words) => is("BadRequestError", words)(error) && status === 400,
    exceptions: { mended: [], unsent: [] },
    atLeast: 9,
  });
});
