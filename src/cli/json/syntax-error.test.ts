import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findJsonSyntaxError } from "./syntax-error.ts";

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("findJsonFault", () => {
  it.each([
    ['{"a": }', 1, 7, 'a value should stand here, not "}"'],
    ["[1, 2,]", 1, 7, 'a value should stand here, not "]"'],
    ['{"a": 1,}', 1, 9, 'a key should stand here, not "}"'],
    ['{\n  "a" 1\n}', 2, 7, '":" should stand here, not "1"'],
    ["{a: 1}", 1, 2, 'a key or "}" should stand here, not "a"'],
    ['[1\n, "x\ny"]', 2, 5, 'a text cannot hold "\\n" unescaped'],
    ['["\\x"]', 1, 3, '"\\" and "x" is no escape'],
    ['{"a": [1, 2', 1, 12, '"," or "]" should follow, but the text ends'],
    ['{"a": "b', 1, 7, "a text that begins here never ends"],
    ["{} {}", 1, 4, 'the end should stand here, not "{"'],
    ["[01]", 1, 3, '"," or "]" should stand here, not "1"'],
    ["nul", 1, 1, 'a value should stand here, not "n"'],
    ["[1}", 1, 3, '"," or "]" should stand here, not "}"'],
  ])("finds the fault in %j", (text, line, column, message) => {
    expect(findJsonSyntaxError(text)).toEqual({ line, column, message });
  });

  it("agrees with JSON.parse on what is JSON", () => {
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

  it("agrees with JSON.parse when one character of JSON is lost", () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const torn = text.slice(0, at % text.length) + text.slice((at % text.length) + 1);
        expect(findJsonSyntaxError(torn) === undefined).toBe(parses(torn));
      }),
      { numRuns: 2000 },
    );
  });
});
