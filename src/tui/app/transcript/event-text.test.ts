import { describe, expect, it } from "vitest";
import type { FinishedCall } from "../../../scheduler/events.ts";
import { resultText, retryText } from "./event-text.ts";

const finished = (status: "cancelled" | "complete", text: string): FinishedCall =>
  ({ outcome: { status, content: [] }, display: { type: "text", text } }) as unknown as FinishedCall;

describe("the result of a call, for a person", () => {
  it.each([
    ["cancelled", "The user refused this call. Do not repeat it; continue another way, or ask.", "Refused."],
    ["cancelled", "The user refused this call: use b\nnot a", "Refused: use b\nnot a"],
    ["cancelled", "Cancelled.", "Cancelled."],
    ["complete", "The user refused this call: it is a file's text", "The user refused this call: it is a file's text"],
  ] as const)("%s with %j is %j", (status, text, shown) => {
    expect(resultText(finished(status, text))).toBe(shown);
  });
});

describe("a retry", () => {
  const failure = { kind: "overloaded", provider: "anthropic", label: "Anthropic" } as const;

  it.each([
    [{ delay: 4200, discarded: false }, "Anthropic: overloaded. Retrying in 4s."],
    [{ delay: 300, discarded: false }, "Anthropic: overloaded. Retrying."],
    [{ delay: 0, discarded: true }, "The response was interrupted. Retrying."],
  ])("%j is %j", (event, shown) => {
    expect(retryText({ type: "retrying", failure, ...event })).toBe(shown);
  });
});
