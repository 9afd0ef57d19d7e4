import { ApiError, GoogleGenAI } from "@google/genai";
import { describe, expect, it } from "vitest";
import { geminiCases } from "../../src/rules/gemini/rules.cases.ts";
import { openGemini, openGeminiChat, openVertex } from "./gemini.ts";
import type { SceneSetup } from "./run-scene.ts";
import { testSameRequests, testRefusals, testScene, testSeals, testFailures } from "./client-tests.ts";
import { withServer } from "./server.ts";

const model = "gemini-3.8-flash";
const google: SceneSetup = { provider: "google", model, open: openGemini };
const vertex: SceneSetup = { provider: "vertex", model, open: openVertex };

/** Differences between what Google's client sends and what Parley sends. */
const listed = {
  "+ /body/systemInstruction/role":
    "The client makes a user's content of a string. The API does not look at this role.",
  "~ /body/generationConfig/thinkingConfig/thinkingLevel": "The client writes its enum in capitals; both are read.",
  "+ /body/generationConfig/thinkingConfig/includeThoughts": "Asks to see the thought, which the scene wants.",
  "~ /body/contents/1/parts/1/thoughtSignature": "Made for a request with other settings.",
  "+ /body/contents/1/parts/3": "The empty text that ends a stream. Parley leaves out what says nothing.",
  "~ /body/contents/2/parts/0/functionResponse/response/output": "A result has to say something: the words are free.",
};

const is =
  (status: number, words: string) =>
  (error: unknown): boolean =>
    error instanceof ApiError && error.status === status && error.message.includes(words);

const corrupted = is(400, "Corrupted thought signature.");

describe("Google's client with an API key", () => {
  testScene({ ...google, finish: ["STOP", "STOP"] });
  testSameRequests(google, ({ base }) => ({ GOOGLE_GEMINI_BASE_URL: base, GEMINI_API_KEY: "key-1" }), listed);
  testSeals(google, corrupted);
  testFailures(google, {
    "a wrong key": is(400, "API_KEY_INVALID"),
    "an unknown model": is(404, "models/no-such-model is not found"),
    "too many requests": is(429, "RESOURCE_EXHAUSTED"),
    "an overloaded server": is(503, "UNAVAILABLE"),
    "an error inside a stream": is(503, "UNAVAILABLE"),
  });

  it("counts tokens and lists models", async () => {
    const told = await withServer({ provider: "google" }, async ({ base }) => {
      const { models } = new GoogleGenAI({ apiKey: "key-1", httpOptions: { baseUrl: base } });
      const { totalTokens = 0 } = await models.countTokens({ model, contents: "four words of text" });
      const { name } = await models.get({ model });
      const listed: unknown[] = [];
      for await (const one of await models.list()) listed.push(one.name);
      return { counted: totalTokens > 0, name, isListed: listed.includes(name) };
    });
    expect(told).toEqual({ counted: true, name: `models/${model}`, isListed: true });
  });
});

describe("the chat of Google's client, which manages the history itself", () => {
  testScene({ ...google, open: openGeminiChat, finish: ["STOP", "STOP"] });
});

describe("Google's client at Vertex", () => {
  testScene({ ...vertex, finish: ["STOP", "STOP"] });
  testSameRequests(
    vertex,
    ({ base }) => ({
      GOOGLE_VERTEX_BASE_URL: base,
      GOOGLE_OAUTH_ACCESS_TOKEN: "token-1",
      GOOGLE_CLOUD_PROJECT: "a-project",
    }),
    { ...listed, "~ /path": "The client speaks v1beta1, Parley v1. The fields used are in both." },
  );
  testSeals(vertex, corrupted);
  testFailures(vertex, {
    "a wrong key": is(401, "UNAUTHENTICATED"),
    "an unknown model": is(404, "publishers/google/models/no-such-model"),
    "too many requests": is(429, "RESOURCE_EXHAUSTED"),
    "an overloaded server": is(503, "UNAVAILABLE"),
    "an error inside a stream": is(503, "UNAVAILABLE"),
  });
});

describe("Google's client with refused requests", () => {
  testRefusals({
    wire: "gemini",
    cases: geminiCases,
    providers: ["google", "vertex"],
    open: (provider) => (provider === "vertex" ? openVertex : openGemini),
    isRefusal: (error, status, words) => is(status, JSON.stringify(words).slice(1, -1))(error),
    exceptions: {
      // The client accepts strings as contents, drops unknown fields, and translates schemas.
      mended: [
        "gemini/shape: contents are a text",
        "gemini/shape: a content is a text",
        "gemini/shape: a part is a text",
        "gemini/shape: the system instruction is a bare text",
        "gemini/unknown-field: a signature inside the call",
        "gemini/unknown-field: a setting of another API at the top level",
        "gemini/unknown-field: a content has an id",
        "gemini/unknown-field: a part of another API",
        "gemini/empty-content: a content without parts, on Vertex",
        "gemini/tool-shape: a tool of another API",
        "gemini/duplicate-tool: two declarations with the same name",
        "gemini/schema-dialect: additionalProperties",
        "gemini/schema-dialect: a list of types",
        "gemini/sampling-range: a limit of zero",
      ],
      unsent: ["gemini/shape: contents are empty", "gemini/schema-dialect: a type by its number"],
    },
    atLeast: 70,
  });
});
