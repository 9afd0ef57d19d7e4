import { describe, expect, it } from "vitest";
import { findJsonSyntaxError } from "./syntax-error.ts";
import { fc } from "../../../test/support/fast-check.ts";

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("findJsonSyntaxError", () => {
  it.each([
    ['{"a": }', 1, 7, 'unexpected "}"'],
    ["[1, 2,]", 1, 7, 'unexpected "]"'],
    ['{"a": 1,}', 1, 9, 'unexpected "}", expected a key'],
    ['{\n  "a" 1\n}', 2, 7, 'unexpected "1", expected ":"'],
    ["{a: 1}", 1, 2, 'unexpected "a", expected a key or "}"'],
    ['[1\n, "x\ny"]', 2, 5, 'unescaped "\\n" in a string'],
    ['["\\x"]', 1, 3, '"\\" followed by "x" is not an escape sequence'],
    ['{"a": [1, 2', 1, 12, 'unexpected end of input, expected "," or "]"'],
    ['{"a": "b', 1, 7, "unterminated string"],
    ["{} {}", 1, 4, 'unexpected "{", expected the end'],
    ["[01]", 1, 3, 'unexpected "1", expected "," or "]"'],
    ["nul", 1, 1, 'unexpected "n"'],
    ["[1}", 1, 3, 'unexpected "}", expected "," or "]"'],
  ])("finds the error in %j", (text, line, column, message) => {
    expect(findJsonSyntaxError(text)).toEqual({ line, column, message });
  });

  it("agrees with JSON.parse on random texts", () => {
    const pieces = fc.constantFrom(
      ...'{}[],: \n"\\0-1e.'.split(""),
      "true",
      "null",
      '"a"',
      '"\\u00e9"',
      "1.5e3",
      "\u0001",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.array(pieces).map((list) => list.join("")),
        ),
        (text) => {
          expect(findJsonSyntaxError(text) === undefined).toBe(parses(text));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("agrees with JSON.parse if one character is missing", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const torn = text.slice(0, at % text.length) + text.slice((at % text.length) + 1);
        expect(findJsonSyntaxError(torn) === undefined).toBe(parses(torn));
      }),
      { numRuns: 2000 },
    );
  });
});
