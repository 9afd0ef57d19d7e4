import { describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import { classifyError, type ErrorClassification } from "./classify.ts";
import { NetError } from "../../world/net.ts";
import { explainFailure } from "../failure.ts";
import { parseRetryHints } from "./hints.ts";
import { toAttemptError } from "./attempt-error.ts";

type Row = readonly [
  provider: string,
  status: number,
  body: unknown,
  kind: string,
  retry: boolean,
  headers?: Readonly<Record<string, string>>,
];

/** Classifies an error response as attempts do. */
const verdictOf = ([provider, status, body, , , headers = {}]: Row): ErrorClassification => {
  const { id, label, destination } = findProvider(provider);
  const problem = destination("").wire.decode.parseError(body) ?? { message: "" };
  return classifyError({ provider: id, label }, { status, hints: parseRetryHints(headers, 0), apiError: problem });
};

const google = (code: number, status: string, details: readonly unknown[] = []): unknown => ({
  error: { code, message: "said by Google", status, details },
});
const quota = (quotaId: string): unknown => ({
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId }],
});
const retryInfo = (retryDelay: string): unknown => ({
  "@type": "type.googleapis.com/google.rpc.RetryInfo",
  retryDelay,
});
const anthropic = (type: string, message = "said by Anthropic", details?: unknown): unknown => ({
  type: "error",
  error: { type, message, ...(details === undefined ? {} : { details }) },
});
const openai = (code: string | null, message = "said by OpenAI", type = "x"): unknown => ({
  error: { message, type, param: null, code },
});

const rows: readonly Row[] = [
  ["anthropic", 401, anthropic("authentication_error"), "bad-key", false],
  ["anthropic", 403, anthropic("permission_error"), "bad-key", false],
  ["anthropic", 429, anthropic("rate_limit_error"), "rate-limited", true],
  [
    "anthropic",
    429,
    anthropic("rate_limit_error", "x", { error_code: "enforced_spend_limit_reached" }),
    "quota-gone",
    false,
  ],
  ["anthropic", 529, anthropic("overloaded_error"), "overloaded", true],
  ["anthropic", 500, anthropic("api_error"), "overloaded", true],
  ["anthropic", 500, anthropic("api_error"), "overloaded", false, { "x-should-retry": "false" }],
  ["anthropic", 400, anthropic("invalid_request_error"), "refused", false],
  [
    "anthropic",
    400,
    anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "context-too-long",
    false,
  ],
  [
    "anthropic",
    400,
    anthropic("invalid_request_error", "Your credit balance is too low to access the API."),
    "no-credit",
    false,
  ],
  ["anthropic", 413, anthropic("request_too_large"), "context-too-long", false],
  ["anthropic", 404, anthropic("not_found_error", "model: claude-nope"), "refused", false],
  [
    "google",
    400,
    google(400, "INVALID_ARGUMENT", [
      { "@type": "type.googleapis.com/google.rpc.ErrorInfo", reason: "API_KEY_INVALID" },
    ]),
    "bad-key",
    false,
  ],
  ["google", 403, google(403, "PERMISSION_DENIED"), "bad-key", false],
  ["google", 429, google(429, "RESOURCE_EXHAUSTED", [retryInfo("3s")]), "rate-limited", true],
  [
    "google",
    429,
    google(429, "RESOURCE_EXHAUSTED", [quota("GenerateRequestsPerMinutePerProject"), retryInfo("12s")]),
    "rate-limited",
    true,
  ],
  [
    "google",
    429,
    google(429, "RESOURCE_EXHAUSTED", [quota("GenerateRequestsPerDayPerProjectPerModel-FreeTier"), retryInfo("12s")]),
    "quota-gone",
    false,
  ],
  ["google", 429, google(429, "RESOURCE_EXHAUSTED", [retryInfo("4000s")]), "quota-gone", false],
  ["google", 503, google(503, "UNAVAILABLE"), "overloaded", true],
  ["google", 400, google(400, "INVALID_ARGUMENT"), "refused", false],
  [
    "google",
    400,
    {
      error: {
        code: 400,
        message: "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    "context-too-long",
    false,
  ],
  ["openai", 401, openai("invalid_api_key"), "bad-key", false],
  ["openai", 429, openai("rate_limit_exceeded"), "rate-limited", true],
  ["openai", 429, openai("insufficient_quota"), "no-credit", false],
  ["openai", 400, openai("context_length_exceeded"), "context-too-long", false],
  ["openai", 400, openai("invalid_encrypted_content"), "refused", false],
  ["openai", 500, openai(null), "overloaded", true],
  ["openai", 408, openai(null), "overloaded", true],
  ["openai", 409, openai(null), "overloaded", true],
  ["openai", 425, openai(null), "overloaded", true],
  ["openai", 422, openai(null), "refused", false],
  [
    "azure",
    400,
    openai("content_filter", "The response was filtered due to Azure OpenAI's content management policy."),
    "filtered",
    false,
  ],
  ["deepseek", 402, openai("invalid_request_error", "Insufficient Balance"), "no-credit", false],
  ["openrouter", 402, { error: { code: 402, message: "Insufficient credits" } }, "no-credit", false],
  [
    "openrouter",
    403,
    { error: { code: 403, message: "requires moderation: flagged", metadata: { reasons: ["violence"] } } },
    "filtered",
    false,
  ],
  ["kimi", 429, { error: { message: "x", type: "exceeded_current_quota_error" } }, "no-credit", false],
  ["kimi", 429, { error: { message: "x", type: "engine_overloaded_error" } }, "overloaded", true],
  [
    "mistral",
    422,
    { detail: [{ type: "extra_forbidden", loc: ["body", "x"], msg: "Extra inputs are not permitted" }] },
    "refused",
    false,
  ],
  ["bedrock", 429, { __type: "ThrottlingException", message: "Too many requests" }, "rate-limited", true],
  ["bedrock", 403, { __type: "AccessDeniedException", message: "no access" }, "bad-key", false],
  ["bedrock", 424, { __type: "ModelErrorException", message: "x" }, "overloaded", true],
  [
    "bedrock",
    400,
    { __type: "ValidationException", message: "Input is too long for requested model." },
    "context-too-long",
    false,
  ],
  ["local", 500, { error: { message: "model runner has unexpectedly stopped" } }, "overloaded", true],
  ["local", 404, { error: { message: 'model "nope" not found, try pulling it first' } }, "refused", false],
];

describe("an error of a provider", () => {
  it.each(rows.map((row) => ({ row, name: `${row[0]} ${row[1]} ${JSON.stringify(row[2])}` })))("$name", ({ row }) => {
    const { failure, isRetryable: retry } = verdictOf(row);
    expect([failure.kind, retry]).toEqual([row[3], row[4]]);
  });

  it.each<readonly [string, Readonly<Record<string, string>>, number]>([
    ["seconds", { "retry-after": "7" }, 7000],
    ["milliseconds, which win", { "retry-after-ms": "1500", "retry-after": "7" }, 1500],
    ["a date", { "retry-after": "Thu, 01 Jan 1970 00:00:30 GMT" }, 30_000],
    ["a date in the past", { "retry-after": "Thu, 01 Jan 1960 00:00:30 GMT" }, 0],
    ["a negative number, which is no hint", { "retry-after": "-1" }, 0],
    ["no number at all", { "retry-after": "NaN" }, 0],
    ["nothing", {}, 0],
  ])("asks for a wait in %s", (_, headers, floor) => {
    expect(verdictOf(["anthropic", 429, anthropic("rate_limit_error"), "", true, headers]).minDelay).toBe(floor);
  });

  it("asks for a wait in Google's own words", () => {
    const row = (details: readonly unknown[]): Row => [
      "google",
      429,
      google(429, "RESOURCE_EXHAUSTED", details),
      "",
      true,
    ];
    expect(verdictOf(row([retryInfo("34.074824224s")])).minDelay).toBe(34_075);
    expect(verdictOf(row([])).minDelay).toBe(0);
  });

  it("keeps what the vendor said", () => {
    expect(verdictOf(["openai", 400, openai("x", "This is not wanted."), "", false]).failure).toEqual({
      provider: "openai",
      label: "OpenAI (Responses)",
      kind: "refused",
      status: 400,
      detail: "This is not wanted.",
      rules: [],
    });
  });
});

describe("a wait of an hour", () => {
  it("is reported with its time, and not waited for", () => {
    const { failure, minDelay: floor } = verdictOf([
      "anthropic",
      429,
      {},
      "quota-gone",
      false,
      { "retry-after": "3600" },
    ]);
    expect([failure, floor]).toMatchObject([{ kind: "quota-gone", retryAfter: 3_600_000 }, 3_600_000]);
    expect(explainFailure(failure)).toContain("Try again in 60 min, or use another provider.");
  });
});

describe("a fault of the connection", () => {
  const request = { method: "POST", url: "https://api.test/v1", headers: {} } as const;
  const coded = (code: string): NetError => new NetError("connect", code, Object.assign(new Error(code), { code }));
  it.each([
    ["an unknown certificate", coded("SELF_SIGNED_CERT_IN_CHAIN"), false],
    ["a certificate of another host", coded("ERR_TLS_CERT_ALTNAME_INVALID"), false],
    ["a certificate that is over", coded("CERT_HAS_EXPIRED"), false],
    ["a proxy that wants a password, or is none", new NetError("connect", "refused", undefined, true), false],
    ["a connection that is refused", coded("ECONNREFUSED"), true],
    ["a connection that breaks", new NetError("broken", "ECONNRESET"), true],
  ])("is tried again only where that can help: %s", (_, error, isRetryable) => {
    expect(toAttemptError(error, { provider: "p", label: "P" }, request)).toMatchObject({
      classification: { isRetryable },
    });
  });
});
