import { describe, expect, it } from "vitest";
import type { GatewayFailure } from "./failure.ts";
import { answerEncoders } from "./encoders.ts";
import { contextFor, decodeStream, inboundApis } from "./round-trip.cases.ts";

const who = { provider: "openai", label: "OpenAI" } as const;
const long: GatewayFailure = {
  ...who,
  kind: "context-too-long",
  detail: "This model's maximum context length is 200000 tokens. However, your messages resulted in 213,462 tokens.",
};
const failures: Readonly<Record<string, GatewayFailure>> = {
  "a long context": long,
  "an unmeasured long context": { ...who, kind: "context-too-long", detail: "too long" },
  overload: { ...who, kind: "overloaded" },
  "a rate limit": { ...who, kind: "rate-limited", retryAfter: 2500 },
  "a used-up quota": { ...who, kind: "quota-gone" },
  "no credit": { ...who, kind: "no-credit" },
  "a refused request": { ...who, kind: "refused", status: 422, rules: [], detail: "bad tool" },
  "a missing model": { ...who, kind: "refused", status: 404, rules: [] },
  "the target's bad key": { ...who, kind: "bad-key" },
  "a wrong token": { kind: "bad-token" },
  "an unknown model": { kind: "unknown-model", model: "m", known: ["a", "b"] },
  "a large body": { kind: "too-large", limit: 5 },
  "a spending limit": { kind: "spend-limit", limit: "$5.00 a day" },
  "a silent target": { ...who, kind: "time-out", phase: "idle", ms: 1000 },
  "a lost connection": { ...who, kind: "network", host: "api.openai.com" },
  "a filter": { ...who, kind: "filtered" },
};

/** Failure; status, name and retry hints of Anthropic, both OpenAI APIs, and Gemini. */
const expected: readonly (readonly [string, string, string, string])[] = [
  [
    "a long context",
    "400 invalid_request_error false",
    "400 invalid_request_error/context_length_exceeded false",
    "400 INVALID_ARGUMENT",
  ],
  [
    "an unmeasured long context",
    "400 invalid_request_error false",
    "400 invalid_request_error/context_length_exceeded false",
    "400 INVALID_ARGUMENT",
  ],
  [
    "overload",
    "529 overloaded_error true",
    "503 service_unavailable_error/server_is_overloaded true",
    "503 UNAVAILABLE",
  ],
  [
    "a rate limit",
    "429 rate_limit_error 3 true",
    "429 requests/rate_limit_exceeded 3 true",
    "429 RESOURCE_EXHAUSTED 3",
  ],
  [
    "a used-up quota",
    "429 rate_limit_error false",
    "429 insufficient_quota/insufficient_quota false",
    "429 RESOURCE_EXHAUSTED",
  ],
  ["no credit", "402 billing_error false", "429 insufficient_quota/insufficient_quota false", "429 RESOURCE_EXHAUSTED"],
  [
    "a refused request",
    "400 invalid_request_error false",
    "400 invalid_request_error/invalid_prompt false",
    "400 INVALID_ARGUMENT",
  ],
  ["a missing model", "404 not_found_error false", "404 invalid_request_error/model_not_found false", "404 NOT_FOUND"],
  [
    "the target's bad key",
    "400 invalid_request_error false",
    "400 invalid_request_error/invalid_prompt false",
    "400 INVALID_ARGUMENT",
  ],
  [
    "a wrong token",
    "401 authentication_error false",
    "401 invalid_request_error/invalid_api_key false",
    "401 UNAUTHENTICATED",
  ],
  ["an unknown model", "404 not_found_error false", "404 invalid_request_error/model_not_found false", "404 NOT_FOUND"],
  ["a large body", "413 request_too_large false", "413 invalid_request_error/null false", "400 INVALID_ARGUMENT"],
  [
    "a spending limit",
    "402 billing_error false",
    "429 insufficient_quota/insufficient_quota false",
    "429 RESOURCE_EXHAUSTED",
  ],
  ["a silent target", "504 timeout_error true", "504 server_error/server_error true", "504 DEADLINE_EXCEEDED"],
  ["a lost connection", "502 api_error true", "502 server_error/server_error true", "502 INTERNAL"],
  [
    "a filter",
    "400 invalid_request_error false",
    "400 invalid_request_error/invalid_prompt false",
    "400 INVALID_ARGUMENT",
  ],
];

/** Status, vendor's name, retry hints. */
const summary = (api: (typeof inboundApis)[number], failure: GatewayFailure): string => {
  const { status, headers, body } = answerEncoders[api].encodeError(failure, "req_1");
  const error = body["error"] as { type?: string; code?: string | null; status?: string };
  const name = error.status ?? (error.code === undefined ? error.type : `${error.type}/${error.code ?? "null"}`);
  const hints = [headers["retry-after"], headers["x-should-retry"]].filter((hint) => hint !== undefined);
  return [status, name, ...hints].join(" ");
};

describe("errors are in the words of the inbound API", () => {
  it.each(expected)("with their statuses and codes: %s", (name, anthropic, openai, gemini) => {
    const failure = failures[name]!;
    expect(Object.fromEntries(inboundApis.map((api) => [api, summary(api, failure)]))).toEqual({
      anthropic,
      "openai-chat": openai,
      "openai-responses": openai,
      gemini,
    });
  });

  it("so that Claude Code compacts a long conversation", () => {
    expect(answerEncoders.anthropic.encodeError(long, "req_1")).toMatchObject({
      status: 400,
      body: {
        type: "error",
        error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
      },
    });
  });

  it("so that Codex compacts a long conversation, and waits as long as it must", () => {
    const stream = answerEncoders["openai-responses"].openStream(contextFor());
    expect(stream.fail(long)).toContain('"error":{"code":"context_length_exceeded"');
    const limited = answerEncoders["openai-responses"].openStream(contextFor());
    expect(limited.fail(failures["a rate limit"]!)).toMatch(
      /"code":"rate_limit_exceeded","message":"[^"]*try again in 2\.5s/,
    );
  });

  it("so that Gemini CLI compresses a long conversation, and reads the delay", () => {
    expect(answerEncoders.gemini.encodeError(long, "r").body).toMatchObject({
      error: { message: "The input token count (213462) exceeds the maximum number of tokens allowed (200000)." },
    });
    expect(JSON.stringify(answerEncoders.gemini.encodeError(failures["a rate limit"]!, "r").body)).toContain(
      '"retryDelay":"3s"',
    );
  });

  it.each(inboundApis)("in the middle of a stream of %s, where our own decoder finds them", async (api) => {
    const stream = answerEncoders[api].openStream(contextFor());
    const text = stream.push({ type: "text-delta", index: 0, text: "So far" }) + stream.fail(failures["overload"]!);
    const events = await decodeStream(api, text + stream.end());
    expect(events.at(-1)).toMatchObject({ type: "error" });
    expect(events).toContainEqual({ type: "text-delta", index: 0, text: "So far" });
  });
});
