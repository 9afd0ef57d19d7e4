import { describe, expect, it } from "vitest";
import { parseApiError } from "./api-error.ts";

describe("an error body", () => {
  it.each([
    [
      "of OpenAI, with the finer of its names first",
      { error: { message: "No such model.", type: "invalid_request_error", param: "model", code: "model_not_found" } },
      { message: "No such model.", code: "model_not_found", param: "model", reasons: ["invalid_request_error"] },
    ],
    [
      "of OpenAI, with the time to wait in words",
      {
        error: {
          message: "Rate limit reached. Please try again in 1m2.5s.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      },
      {
        message: "Rate limit reached. Please try again in 1m2.5s.",
        code: "rate_limit_exceeded",
        retryAfter: 62_500,
        reasons: ["tokens"],
      },
    ],
    [
      "of Azure, with a status for a code and the filter's own reason",
      {
        error: {
          code: "429",
          message: "Please retry after 20 seconds.",
          innererror: { code: "ResponsibleAIPolicyViolation" },
        },
      },
      {
        message: "Please retry after 20 seconds.",
        code: "ResponsibleAIPolicyViolation",
        status: 429,
        retryAfter: 20_000,
      },
    ],
    [
      "of Google, with its status, field, quota and delay",
      {
        error: {
          code: 429,
          message: "Too fast.",
          status: "RESOURCE_EXHAUSTED",
          details: [
            { fieldViolations: [{ field: "contents[0]" }] },
            { reason: "QUOTA_EXHAUSTED", metadata: { quotaResetDelay: "1h16m0.5s" } },
            { violations: [{ quotaId: "PerDay" }, {}] },
          ],
        },
      },
      {
        message: "Too fast.",
        code: "RESOURCE_EXHAUSTED",
        status: 429,
        param: "contents[0]",
        retryAfter: 4_560_500,
        reasons: ["QUOTA_EXHAUSTED", "PerDay"],
      },
    ],
    [
      "of OpenRouter, with what the server behind it said",
      {
        error: {
          code: 429,
          message: "Provider returned error",
          metadata: {
            error_type: "rate_limit_exceeded",
            raw: '{"error":{"message":"Slow down, please retry in 500ms","type":"overloaded_error"}}',
          },
        },
      },
      {
        message: "Provider returned error: Slow down, please retry in 500ms",
        code: "rate_limit_exceeded",
        status: 429,
        retryAfter: 500,
        reasons: ["overloaded_error"],
      },
    ],
    [
      "of OAuth",
      { error: "invalid_grant", error_description: "Token revoked." },
      { message: "Token revoked.", code: "invalid_grant" },
    ],
    [
      "of a server with one word",
      { error: "model is loading" },
      { message: "model is loading", code: "model is loading" },
    ],
    [
      "of vLLM",
      { object: "error", message: "Too long.", type: "BadRequestError", param: null, code: 400 },
      { message: "Too long.", code: "BadRequestError", status: 400 },
    ],
    [
      "of FastAPI",
      { detail: [{ loc: ["body", "input", 0], msg: "Field required" }, { msg: "Extra input" }] },
      { message: "Field required; Extra input", param: "body.input.0" },
    ],
    ["of FastAPI, in a word", { detail: "Not Found" }, { message: "Not Found" }],
    [
      "of a gateway",
      { message: "no Route matched", retry_after: 2 },
      { message: "no Route matched", retryAfter: 2000 },
    ],
    ["in a list", [{}, { error: { message: "Bad." } }], { message: "Bad." }],
    ["among others", { errors: [{ message: "Bad." }] }, { message: "Bad." }],
    ["of a proxy that writes plain text", " upstream timed out\n", { message: "upstream timed out" }],
    ["without a word", { error: {} }, { message: "The server reports an error and does not say which." }],
  ])("%s", (_, body, apiError) => {
    expect(parseApiError(body)).toEqual(apiError);
  });

  it.each([undefined, null, "", " \n", 7, [], {}, { error: null }, { error: "" }, { errors: "none" }])(
    "is no error: %j",
    (body) => {
      expect(parseApiError(body)).toBeUndefined();
    },
  );

  it("is read however deep it is wrapped, up to a limit", () => {
    const wrap = (times: number): unknown => {
      let body: unknown = { message: "Bad." };
      for (let time = 0; time < times; time++) body = { detail: body };
      return body;
    };
    expect(parseApiError(wrap(2))).toEqual({ message: "Bad." });
    expect(parseApiError(wrap(100_000))).toEqual({ message: "The server reports an error and does not say which." });
  });

  it.each(["Please retry in a moment.", "retry in 5 more attempts", "You cannot try again in -3s."])(
    "asks for no wait: %s",
    (message) => {
      expect(parseApiError({ message })).toEqual({ message });
    },
  );
});
