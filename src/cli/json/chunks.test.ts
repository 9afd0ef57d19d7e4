import { describe, expect, it } from "vitest";
import { jsonChunks } from "./chunks.ts";

describe("jsonChunks", () => {
  it.each([
    [null],
    ['text\nwith "quotes"'],
    [[]],
    [{}],
    [{ a: undefined, b: [undefined, 1, null], c: {}, d: [], e: [[]], f: { g: undefined } }],
    [{ one: { two: { three: { four: { five: ["six", { seven: 8 }] } } } }, text: "a\nb" }],
    [[new Date(0), [1, [2, [3, [4, [5, { six: [7] }]]]]]]],
  ])("yield the same text as JSON.stringify: %j", (value) => {
    expect([...jsonChunks(value)].join("")).toBe(JSON.stringify(value, null, 2));
  });
});
