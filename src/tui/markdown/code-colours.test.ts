import { beforeAll, describe, expect, it } from "vitest";
import { lineText } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { viewDiff } from "../views/diff.ts";
import { CodeColours } from "./code-colours.ts";
import { createHighlighter } from "./highlight.ts";

const colours = new CodeColours(createHighlighter());
beforeAll(() => colours.load("a.ts"));

const patchOf = (lines: readonly string[]): string => {
  const [old, fresh] = ["+", "-"].map((sign) => lines.filter((each) => !each.startsWith(sign)).length);
  return `--- a.ts\n+++ a.ts\n@@ -1,${old} +1,${fresh} @@\n${lines.join("\n")}\n`;
};

const view = (lines: readonly string[], { width = 40, path = "a.ts" } = {}): readonly StyledLine[] =>
  viewDiff(patchOf(lines), { width, isNameless: true, colours: colours.of(path) });

const plain = (lines: readonly string[], width = 40): readonly string[] =>
  viewDiff(patchOf(lines), { width, isNameless: true }).map(lineText);

describe("the colours of code in a diff", () => {
  it("are those of its language, with what changed marked by the background", () => {
    const [same, removed, added] = view([" // sum", "-let a = 1;", "+let a = 2;"], { width: 16 });
    expect(same).toEqual([
      { text: "1   ", style: { tone: "muted" } },
      { text: "// sum", style: { tone: "comment", italic: true } },
    ]);
    const changed = (sign: string, digit: string, background: "added" | "removed"): StyledLine => [
      { text: `2 ${sign} `, style: { tone: background, background } },
      { text: "let", style: { tone: "keyword", background } },
      { text: " a = ", style: { background } },
      { text: digit, style: { tone: "number", background: `${background}-strong` } },
      { text: ";", style: { background } },
      { text: "  ", style: { tone: background, background } },
    ];
    expect(removed).toEqual(changed("-", "1", "removed"));
    expect(added).toEqual(changed("+", "2", "added"));
  });

  it("go on over lines: a comment or text that began above is known", () => {
    const tones = view([" /* one", "+two", " three */", " let x;"]).map(([, second]) => second?.style.tone);
    expect(tones).toEqual(["comment", "comment", "comment", "keyword"]);
  });

  it("of removed lines are those of the old file", () => {
    const [, removed, added] = view([" /*", "-*/ let a = 1;", "+   let a = 1;", " */"]);
    expect(removed?.find(({ text }) => text === "let")?.style.tone).toBe("keyword");
    expect(added?.find(({ text }) => text.includes("let"))?.style.tone).toBe("comment");
  });

  it.each<readonly [string, readonly string[]]>([
    ["tabs", ["-\tlet a =\t1;", "+\t\tlet a = 1;"]],
    ["control characters", ["-let a = '\u001b[8mx';", "+let a = '\r\u202ey';"]],
    ["wide characters", ["-let a = '漢字👩‍👩‍👧';", "+let b = '漢👩‍👩‍👧字';"]],
    ["long lines", [`-let a = "${"x ".repeat(40)}";`, `+let a = "${"y ".repeat(40)}";`]],
    ["minified code", [`-let a = 1;`, `+let a = [${"1,".repeat(1500)}];`]],
    ["broken code", ["-let `${", "+*/ '\"` <a", " )}]"]],
  ])("change nothing of the text: %s", (_, lines) => {
    expect(view(lines).map(lineText)).toEqual(plain(lines));
  });

  it("are green and red for a file without a known language", () => {
    expect(view(["-let a;", "+let b;"], { path: "notes.unknown" })).toEqual(
      viewDiff(patchOf(["-let a;", "+let b;"]), { width: 40, isNameless: true }),
    );
    expect(colours.load("notes.unknown")).toBeUndefined();
  });

  it.each(["src/Makefile", "Dockerfile", "a/b.test.tsx", "x.PY", "lib.rs", "page.html", "conf.toml"])(
    "are known for %s",
    async (path) => {
      const own = new CodeColours(createHighlighter());
      expect(own.of(path)(["x"])).toBeUndefined();
      await own.load(path);
      expect(own.of(path)(["x"])).toHaveLength(1);
      expect(own.load(path)).toBeUndefined();
    },
  );
});
