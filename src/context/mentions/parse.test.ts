import { describe, expect, it } from "vitest";
import { parseMentions } from "./parse.ts";
import { fc } from "../../../test/support/fast-check.ts";

const meant = (message: string): readonly (readonly string[])[] =>
  parseMentions(message).flatMap((piece) => (piece.type === "mention" ? [piece.paths] : []));

describe("mentions in a message", () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ["@a.ts", [["a.ts"]]],
    ["look at @src/a.ts and @b/", [["src/a.ts"], ["b/"]]],
    [
      "(@a.ts), [@b] '@c'",
      [
        ["a.ts),", "a.ts)", "a.ts"],
        ["b]", "b"],
        ["c'", "c"],
      ],
    ],
    ["@my\\ file.txt now", [["my file.txt"]]],
    ['@"my file.txt" now', [["my file.txt"]]],
    [
      "@src/a.ts:12 @b.ts:3-7. @c.ts#L4-L9",
      [
        ["src/a.ts:12", "src/a.ts"],
        ["b.ts:3-7.", "b.ts:3-7", "b.ts"],
        ["c.ts#L4-L9", "c.ts"],
      ],
    ],
    ["@src/**/*.{ts,tsx}", [["src/**/*.{ts,tsx}", "src/**/*.{ts,tsx"]]],
    ["@app/[id]/page.tsx", [["app/[id]/page.tsx"]]],
    ["@docs:file:///a/b", [["docs:file:///a/b"]]],
    ["@dir\\file.ts", [["dirfile.ts", "dir\\file.ts"]]],
    ["看@文件.md。然后@b.md，好", [["文件.md"], ["b.md"]]],
    ["someone@example.com, a.b@c.d", []],
    ["\\@a.ts @@b @ c @", []],
    ["user@host:path me+x@y.z", []],
    ["", []],
  ])("%j", (message, expected) => {
    expect(meant(message)).toEqual(expected);
  });

  const tokens = fc.constantFrom(
    "@",
    '"',
    "\\",
    " ",
    "\n",
    "a.ts",
    "src/",
    "*",
    ")",
    ".",
    "é",
    "👩‍👧",
    "\ud800",
    "。",
    ":12",
    "#L1",
    "~",
    "<",
    "\0",
    "\u202e",
  );
  const messages = fc.oneof(
    fc.string({ unit: "binary", maxLength: 200 }),
    fc.array(tokens, { maxLength: 40 }).map((all) => all.join("")),
  );

  it("never fails, and keeps every byte of the message", () => {
    fc.assert(
      fc.property(messages, (message) => {
        const pieces = parseMentions(message);
        expect(pieces.map(({ raw }) => raw).join("")).toBe(message);
        for (const piece of pieces) {
          expect(piece.raw).not.toBe("");
          if (piece.type === "mention") expect(piece.raw.startsWith("@") && piece.paths.length > 0).toBe(true);
        }
      }),
      { numRuns: 3000 },
    );
  });

  it("finds any path again, written with escapes or in quotes, wherever it stands", () => {
    const path = fc.stringMatching(/^[a-z/][a-z0-9/ _()'&$-]{0,20}[a-z0-9]$/);
    const before = fc.constantFrom("", "see ", "(", "\n", "看");
    fc.assert(
      fc.property(path, before, fc.constantFrom("", " now", "\n", ", then", ")"), (name, lead, tail) => {
        const escaped = `${lead}@${name.replaceAll(/[ ()'&$]/g, "\\$&")}${tail}`;
        expect(meant(escaped)).toEqual([expect.arrayContaining([name])]);
        expect(meant(`${lead}@"${name}"${tail}`)).toEqual([[name]]);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    "@".repeat(100_000),
    "@a".repeat(50_000),
    ` @${"a".repeat(100_000)}`,
    ` @${":1".repeat(50_000)}`,
    ` @${")".repeat(100_000)}`,
    ' @"'.repeat(30_000),
  ])("takes no time for long ones", (message) => {
    expect(
      parseMentions(message)
        .map(({ raw }) => raw)
        .join(""),
    ).toBe(message);
  });
});
