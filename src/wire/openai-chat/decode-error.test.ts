import { describe, expect, it } from "vitest";
import { openaiChat } from "./encode.ts";

const { parseError: apiError } = openaiChat.decode;

describe("an error of this family", () => {
  it("keeps the number a vendor gives it", () => {
    expect(apiError({ error: { code: "1113", message: "No balance." } })).toEqual({
      message: "No balance.",
      code: "1113",
    });
    expect(apiError({ error: { code: 1301, message: "Unsafe." } })).toEqual({ message: "Unsafe.", code: "1301" });
  });

  it("may come in an answer that says it went well", () => {
    expect(apiError({ base_resp: { status_code: 1008, status_msg: "insufficient balance" } })).toEqual({
      message: "insufficient balance",
      code: "1008",
    });
    expect(apiError({ base_resp: { status_code: 1000 } })).toEqual({
      message: "The server reports an error and does not say which.",
      code: "1000",
    });
  });

  it("has a status where the body says one", () => {
    expect(apiError({ error: { code: 429, message: "Slow.", metadata: { error_type: "rate_limit" } } })).toEqual({
      message: "Slow.",
      code: "rate_limit",
      status: 429,
    });
  });

  it("is not seen in an answer", () => {
    expect(
      apiError({ choices: [{ index: 0, message: { content: "a" } }], base_resp: { status_code: 0 } }),
    ).toBeUndefined();
    expect(apiError({ choices: [], error: null })).toBeUndefined();
    expect(apiError("")).toBeUndefined();
  });
});
