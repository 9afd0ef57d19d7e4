import { describe, expect, it } from "vitest";
import { truncate, takeColumns, line, lineWidth, toLines, lineText, sanitizeLine, padLine, span } from "./line.ts";
import type { StyledLine } from "./style.ts";
import { textWidth, graphemesOf, graphemeStart } from "./width.ts";
import { wrap } from "./wrap.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const family = "👨\u200d👩\u200d👧\u200d👦";

describe("the width of a text", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["Grüße", 5],
    ["e\u0301", 1],
    ["日本語", 6],
    ["한국어", 6],
    ["ｆｕｌｌ", 8],
    ["\u1112\u1161\u11ab", 2],
    ["😀", 2],
    [family, 2],
    ["👍🏿", 2],
    ["🇩🇪", 2],
    ["❤\ufe0f", 2],
    ["❤", 1],
    ["1\ufe0f\u20e3", 2],
    ["⚡", 2],
    ["│─┼ • … ✓", 9],
    ["हिन्दी", 5],
    ["\u200b", 0],
    [family.repeat(100), 200],
  ])("%j is %d", (text, columns) => {
    expect(textWidth(text)).toBe(columns);
  });

  it("is the sum of its graphemes, which make up the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(graphemesOf(text).join("")).toBe(text);
        expect(graphemesOf(text).reduce((sum, each) => sum + textWidth(each), 0)).toBe(textWidth(text));
      }),
      { numRuns: runsPerTier(500) },
    );
  });

  it("segments the same on the fast path and the slow one", () => {
    const segmenter = new Intl.Segmenter("en", { granularity: "grapheme" });
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "é", "日", "한", "か", "→", "\u0301", "\u200d", "👩", "🇩", "я", "ภ") }),
        (text) => {
          expect(graphemesOf(text)).toEqual(Array.from(segmenter.segment(text), ({ segment }) => segment));
        },
      ),
      { numRuns: runsPerTier(500) },
    );
  });

  it("finds the start of a grapheme", () => {
    const text = `a${family}b`;
    expect(Array.from({ length: text.length + 1 }, (_, at) => graphemeStart(text, at))).toEqual([
      0,
      ...Array.from(family, () => 1)
        .flatMap((one) => [one, one])
        .slice(0, family.length),
      1 + family.length,
      2 + family.length,
    ]);
  });
});

describe("a line", () => {
  it("makes control characters visible", () => {
    expect([
      sanitizeLine("a\u001b]0;title\u0007b"),
      sanitizeLine("rm x\rls"),
      sanitizeLine("a\u202eb"),
      sanitizeLine("a\nb"),
      sanitizeLine("a\tb\tc"),
      sanitizeLine("日\tb"),
      sanitizeLine("a\u00a0b"),
    ]).toEqual(["ab", "rm x␍ls", "a<U+202E>b", "a␊b", "a   b   c", "日  b", "a\u00a0b"]);
  });

  it("is split at newlines", () => {
    expect(toLines("one\r\n\u001b[31mtwo\n", { bold: true })).toEqual([
      [{ text: "one", style: { bold: true } }],
      [{ text: "two", style: { bold: true } }],
      [],
    ]);
  });

  it("is truncated with a mark, never inside a grapheme", () => {
    expect(["abcdef", "日本語", `${family}${family}`, "ab"].map((text) => lineText(truncate(line(text), 3)))).toEqual([
      "ab…",
      "日…",
      `${family}…`,
      "ab",
    ]);
    expect(truncate(line("abc"), 0)).toEqual([]);
    expect(truncate([span("ab", { bold: true }), span("cd")], 3)).toEqual([span("ab", { bold: true }), span("…")]);
  });

  it("is padded to a width", () => {
    expect(lineText(padLine(line("日"), 4))).toBe("日  ");
    expect(padLine(line("abc"), 2)).toEqual(line("abc"));
  });

  it("takes as many columns as fit", () => {
    expect([takeColumns("日本", 3), takeColumns("abc", 9), takeColumns("e\u0301x", 1), takeColumns("x", 0)]).toEqual([
      "日",
      "abc",
      "e\u0301",
      "",
    ]);
  });
});

describe("wrapping", () => {
  const texts = (lines: readonly StyledLine[]): readonly string[] => lines.map(lineText);

  it("breaks between words", () => {
    expect(texts(wrap(line("the quick brown fox"), { width: 10 }))).toEqual(["the quick", "brown fox"]);
  });

  it("breaks only words that fit on no line", () => {
    expect(texts(wrap(line("a incomprehensible b"), { width: 6 }))).toEqual(["a inco", "mprehe", "nsible", "b"]);
  });

  it("keeps a word of several styles together", () => {
    const spans = [span("see ("), span("code", { tone: "code" }), span("), then")];
    expect(wrap(spans, { width: 8 })).toEqual([
      [span("see")],
      [span("("), span("code", { tone: "code" }), span("),")],
      [span("then")],
    ]);
  });

  it("breaks between wide characters", () => {
    expect(texts(wrap(line("日本語日本語"), { width: 5 }))).toEqual(["日本", "語日", "本語"]);
  });

  it("keeps leading spaces, and indents the rest", () => {
    expect(texts(wrap(line("  a b c d"), { width: 6, first: line("- "), rest: line("  ") }))).toEqual([
      "-   a",
      "  b c",
      "  d",
    ]);
  });

  it("of an empty line is one empty line", () => {
    expect(wrap([], { width: 5 })).toEqual([[]]);
  });

  it("breaks code anywhere and keeps its spaces", () => {
    expect(texts(wrap(line("a  b  "), { width: 3, breakAt: "characters" }))).toEqual(["a  ", "b  "]);
  });

  it("breaks a command after spaces and operators, and keeps every character", () => {
    const wrapped = (text: string, width: number): readonly string[] =>
      texts(wrap(line(text), { width, breakAt: "arguments" }));
    expect(wrapped("npm run build && npm test", 12)).toEqual(["npm run ", "build && ", "npm test"]);
    expect(wrapped("make a;make b|sort", 8)).toEqual(["make a;", "make b|", "sort"]);
    expect(wrapped("rm -rf /home", 8)).toEqual(["rm -rf ", "/home"]);
    expect(wrapped("cat incomprehensible x", 8)).toEqual(["cat inco", "mprehens", "ible x"]);
  });

  it("never exceeds the width, and loses only spaces", () => {
    const unit = fc.constantFrom("a", "b", " ", "日", "é", family, "e\u0301", "-", ";", "&");
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit, maxLength: 12 })),
        fc.integer({ min: 2, max: 20 }),
        fc.constantFrom("words" as const, "characters" as const, "arguments" as const),
        (pieces, width, at) => {
          const spans = pieces.map((piece, index) => span(piece, index % 2 === 0 ? {} : { bold: true }));
          const lines = wrap(spans, { width, breakAt: at });
          expect(lines.filter((each) => lineWidth(each) > width)).toEqual([]);
          const whole = lines.map(lineText).join("");
          expect(whole.replaceAll(" ", "")).toBe(pieces.join("").replaceAll(" ", ""));
          if (at !== "words") expect(whole).toBe(pieces.join(""));
        },
      ),
      { numRuns: runsPerTier(1000) },
    );
  });

  it("of two million characters takes linear time", () => {
    const lines = wrap(line("word ".repeat(400_000)), { width: 50 });
    expect([lines.length, lineText(lines.at(-1) ?? [])]).toEqual([
      40_000,
      "word word word word word word word word word word",
    ]);
  });
});
