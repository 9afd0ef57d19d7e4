import { describe, expect, it } from "vitest";
import { findImports } from "./imports.ts";

describe("imports in a text", () => {
  it.each<[string, readonly string[]]>([
    ["@a.md", ["a.md"]],
    ["See @docs/a.md, @b.txt; (@c.rst) and @d.mdc.", ["docs/a.md", "b.txt", "c.rst", "d.mdc"]],
    ["@./a.md @../b.md @/abs/c.md @~/d.md", ["./a.md", "../b.md", "/abs/c.md", "~/d.md"]],
    ["@with\\ space.md", ["with space.md"]],
    ["@a.md\n@a.md", ["a.md"]],
    ["- @list.md\n> @quote.md", ["list.md", "quote.md"]],
    ["write to me@home.md or someone@b.txt", []],
    ["@someone @types/node @package.json @.env @a.mdown @a.md/b @a.md.js", []],
    ["\\@a.md", []],
    ["`@a.md` and ``x ` @b.md``", []],
    ["```\n@a.md\n```\n@b.md", ["b.md"]],
    ["~~~sh\n@a.md\n```\n@b.md\n~~~\n@c.md", ["c.md"]],
    ["  - x\n    ```\n    @a.md\n    ```\n  - @b.md", ["b.md"]],
    ["````\n```\n@a.md\n```\n````\n@b.md", ["b.md"]],
    ["```\n@never-closed.md", []],
    ["a ` stray\n\n@b.md\n\n` mark", ["b.md"]],
    ["日本語 @文書.md。", ["文書.md"]],
  ])("%j", (text, expected) => {
    expect(findImports(text)).toEqual(expected);
  });

  it.each([
    "`".repeat(50_000),
    "@".repeat(50_000),
    "@a".repeat(25_000),
    "@" + "a.".repeat(25_000),
    "\n".repeat(50_000) + "`",
  ])("takes no time for what is none", (text) => {
    expect(findImports(text)).toEqual([]);
  });
});
