import { describe, expect, it } from "vitest";
import { splitIntoDeltas, splitBySize } from "./split-text.ts";
import { fc } from "../../test/support/fast-check.ts";

describe("deltas", () => {
  it("have one, three, two and four words in turn", () => {
    expect(splitIntoDeltas("a b c d e f g h i j k")).toEqual(["a", " b c d", " e f", " g h i j", " k"]);
  });

  it("are none for an empty text", () => {
    expect(splitIntoDeltas("")).toEqual([]);
  });

  it("join to the text and never split a surrogate pair, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (text) => {
        const pieces = splitIntoDeltas(text);
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
      }),
    );
  });

  it("split a long word, such as a line of base64", () => {
    expect(splitIntoDeltas("x".repeat(1000)).every(({ length }) => length <= 4 * 48)).toBe(true);
  });
});

describe("slices", () => {
  it("keep a surrogate pair intact at a boundary", () => {
    expect(splitBySize("abc😀def", 4)).toEqual(["abc😀", "def"]);
  });

  it("join to the text, for any text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 100 }), fc.integer({ min: 1, max: 20 }), (text, size) => {
        const pieces = splitBySize(text, size);
        expect(pieces.join("")).toBe(text);
        expect(pieces.every((piece) => piece !== "" && piece.isWellFormed())).toBe(true);
      }),
    );
  });
});
