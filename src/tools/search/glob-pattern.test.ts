import { describe, expect, it } from "vitest";
import { expandBraces } from "./expand-braces.ts";
import { createGlobMatcher, splitGlob } from "./glob-pattern.ts";
import { ToolFailure } from "../tool.ts";

const yes = (pattern: string, ...paths: readonly string[]) => [pattern, paths, true] as const;
const no = (pattern: string, ...paths: readonly string[]) => [pattern, paths, false] as const;

describe("a glob pattern", () => {
  it.each([
    yes("*", "a", ".a", "a.b"),
    no("*", "a/b"),
    yes("**", "a", "a/b", ".a/.b"),
    yes("**/*", "a", "a/b/c"),
    yes("**/*.ts", "a.ts", "a/b.ts", ".x/c.ts"),
    no("**/*.ts", "a.tsx", "a.ts/b"),
    yes("a/**/b", "a/b", "a/x/b", "a/x/y/b"),
    no("a/**/b", "a/x/b/c", "ab"),
    yes("a/**", "a/b", "a/b/c"),
    yes("**/a/**", "a/b", "x/a/b/c"),
    yes("**/**/a", "a", "x/y/a"),
    yes("a*b*c", "abc", "axbxc", "abcbc"),
    no("a*b*c", "ab", "acb"),
    yes("a*a", "aa", "aba"),
    no("a*a", "a"),
    yes("a*", "a", "ab"),
    yes("*a*", "a", "bab"),
    yes("a**b", "ab", "axxb"),
    yes("?", "a", "ä", "😀"),
    no("?", "", "ab"),
    yes("[abc]", "a", "c"),
    yes("[a-c]x", "bx"),
    no("[a-c]x", "dx", "x"),
    yes("[!a-c]", "d"),
    yes("[^a]", "b"),
    no("[!a-c]", "a"),
    yes("[]x]", "]", "x"),
    yes("[a-]", "a", "-"),
    yes("[abc", "[abc"),
    yes("[id].ts", "[id].ts", "i.ts"),
    yes("{a,b}.ts", "a.ts", "b.ts"),
    no("{a,b}.ts", "c.ts", "{a,b}.ts"),
    yes("{a,b/{c,d}}", "a", "b/c", "b/d"),
    yes("{1..3}", "1", "2", "3"),
    yes("{a}", "{a}"),
    yes("{a", "{a"),
    yes("a}", "a}"),
    yes("@(a|b)c", "ac", "bc"),
    yes("(a)/x", "(a)/x"),
    yes("\\*", "*"),
    no("\\*", "a"),
    yes("\\{a,b\\}", "{a,b}"),
    yes("a/", "a/b", "a/b/c"),
    yes("./a/./b", "a/b"),
  ])("%s of %j: %s", (pattern, paths, isFit) => {
    expect(paths.map((path) => [path, createGlobMatcher(pattern)(path)])).toEqual(paths.map((path) => [path, isFit]));
  });

  it("is case-sensitive by default", () => {
    expect(createGlobMatcher("[A-C].TS")("b.ts")).toBe(false);
    expect(createGlobMatcher("[A-C].TS", { caseSensitive: false })("b.ts")).toBe(true);
  });

  it("takes time in proportion to its length and the path's", () => {
    const name = "a".repeat(255);
    const path = Array.from({ length: 200 }, () => "a").join("/");
    expect(createGlobMatcher(`${"*a".repeat(100)}b`)(name)).toBe(false);
    expect(createGlobMatcher(`${"**/a/".repeat(100)}b`)(path)).toBe(false);
    expect(createGlobMatcher(`${"{a,b}".repeat(9)}*${"a".repeat(50)}c`)(name)).toBe(false);
  });

  it.each(["../a", "a/../b", "**/..", "{..,a}/b", "!a", "a/!(b)", "+(a)", "a\0b", "x".repeat(4097), "{1..99}{1..99}"])(
    "refuses %s",
    (pattern) => {
      expect(() => createGlobMatcher(pattern)).toThrow(ToolFailure);
    },
  );

  it.each([
    ["a/b/*.ts", "a/b", "*.ts"],
    ["*.ts", "", "*.ts"],
    ["/a/*", "/a", "*"],
    ["/*", "/", "*"],
    ["a/b", "a", "b"],
    ["a/", "a", "**"],
    ["a/{b,c/d}/e", "a", "{b,c/d}/e"],
  ])("%s splits into %j and %s", (pattern, folder, rest) => {
    expect(splitGlob(pattern)).toEqual({ folder, rest });
  });

  it("expands to all its alternatives", () => {
    expect(expandBraces("{a,b}{1,}@(x|y)")).toEqual(["a1x", "a1y", "ax", "ay", "b1x", "b1y", "bx", "by"]);
    expect(expandBraces("a{b,c\\}d}")).toEqual(["ab", "ac\\}d"]);
    expect(expandBraces("{".repeat(2000))).toHaveLength(1);
    expect(expandBraces(`${"{a,".repeat(500)}b${"}".repeat(500)}`)).toHaveLength(501);
  });
});
