import { describe, expect, it } from "vitest";
import type { OpenedFile } from "../capabilities.ts";
import { readLines, type LineReadRange } from "./read-lines.ts";
import { fc } from "../../../test/support/fast-check.ts";

/** A file that returns at most this many bytes at a time. */
const fileOf = (text: string, most: number): OpenedFile => {
  const bytes = new TextEncoder().encode(text);
  return {
    place: { path: "/f", shown: "f", kind: "file", size: bytes.length, modified: 0, identity: "1" },
    read: async (at, length) => bytes.subarray(at, at + Math.min(length, most)),
    close: async () => undefined,
  };
};

const text = fc
  .array(fc.constantFrom("a", "bc", "\n", "\n", "\r\n", "\r", "é", "🌲", "long line ", "\ufeff"), { maxLength: 30 })
  .map((pieces) => pieces.join(""));

const range: fc.Arbitrary<LineReadRange> = fc.record({
  offset: fc.integer({ min: 0, max: 3 }),
  limit: fc.integer({ min: 0, max: 12 }),
  maxLineLength: fc.integer({ min: 1, max: 12 }),
  maxCharacters: fc.integer({ min: 0, max: 60 }),
  encoding: fc.constant("utf-8"),
  signal: fc.constant(new AbortController().signal),
});

describe("lines of a file", () => {
  it("are the same whether it is read at once or byte by byte", async () => {
    await fc.assert(
      fc.asyncProperty(text, range, async (words, wanted) => {
        expect(await readLines(fileOf(words, Infinity), wanted)).toEqual(await readLines(fileOf(words, 1), wanted));
      }),
      { numRuns: 3000 },
    );
  });
});
