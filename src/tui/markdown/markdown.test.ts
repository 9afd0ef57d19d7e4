import { beforeAll, describe, expect, it } from "vitest";
import { lineWidth, lineText } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";
import { createHighlighter, type Highlighter } from "./highlight.ts";
import { type Lexer, loadLexer, MarkdownStream } from "./stream.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";
import { perTier, sampleCases } from "../../../test/support/tier.ts";

let lexer: Lexer;
let highlighter: Highlighter;
beforeAll(async () => {
  lexer = await loadLexer();
  highlighter = createHighlighter();
});

/** The final lines of a text that arrives in these pieces. */
const finalLines = async (pieces: readonly string[], width = 40, own = highlighter): Promise<readonly StyledLine[]> => {
  const stream = new MarkdownStream({ lexer, highlighter: own }, width);
  for (const piece of pieces) stream.write(piece);
  stream.end();
  await stream.settled();
  return stream.takeFinal();
};

const shown = async (text: string, width = 40): Promise<readonly string[]> =>
  (await finalLines([text], width)).map(lineText);

const sample = [
  "# Title\n\nSome **bold** and *slanted* `code`, ~~gone~~ [text](https://a.test/b).\nSecond line\n",
  "- one\n- two\n  - nested\n\n    para\n1. first\n1. second\n",
  "```ts\n/* a\ncomment */ const x = `a\nb`;\n```\n",
  "> quoted\n> - list\n>   ```js\n>   let y = 1;\n>   ```\n\n",
  "| head | other |\n|---|:-:|\n| 1 | 2 |\n| three | 4 |\n\n",
  "Setext\n---\n***\n    indented\n\n    more\n\nend",
  "~~~\nunclosed\n",
].join("\n");

describe("Markdown", () => {
  it.each<readonly [string, string, readonly string[]]>([
    ["headings", "# One\n## Two\n### Three\ntext", ["One", "", "Two", "", "### Three", "", "text"]],
    ["underlined headings", "One\n===\nTwo\n---\nx", ["One", "", "Two", "", "x"]],
    ["paragraphs", "one\ntwo\n\n\n\nthree", ["one", "two", "", "three"]],
    [
      "lists in lists",
      "- a\n- b\n  - c\n    1. d\n    2. e\n- f",
      ["• a", "• b", "  • c", "    1. d", "    2. e", "• f"],
    ],
    ["lists with room", "- a\n\n- b\n\n  more", ["• a", "", "• b", "", "  more"]],
    [
      "numbers that all are one",
      "1. a\n1. b\n1. c\n\ntext\n\n7. x\n8. y",
      ["1. a", "2. b", "3. c", "", "text", "", "7. x", "8. y"],
    ],
    ["tasks", "- [ ] a\n- [x] b", ["• [ ] a", "• [x] b"]],
    ["text that goes on in an item", "- a\nb\n\nc", ["• a", "  b", "", "c"]],
    ["a list right after text", "text:\n- a", ["text:", "• a"]],
    ["quotes", "> a\n> > b\n\nc", ["│ a", "│ │ b", "", "c"]],
    ["rules", "a\n\n***\nb", ["a", "", "─".repeat(40), "", "b"]],
    ["code", "a\n```\nx\n\n  y\n```\nb", ["a", "", "  x", "", "    y", "", "b"]],
    ["code without an end", "```js\nlet x", ["  let x"]],
    ["code in code", "````md\n```\nx\n```\n````", ["  ```", "  x", "  ```"]],
    ["code that stands in", "    a\n\n    b\n\nc", ["  a", "", "  b", "", "c"]],
    [
      "links",
      "[a](https://x.test) <https://y.test> https://z.test ![p](q.png)",
      ["a (https://x.test) https://y.test", "https://z.test [image: p] (q.png)"],
    ],
    ["what is no link anywhere else", "[a][b]\n\n[b]: https://x.test", ["[a][b]", "", "[b]: https://x.test"]],
    ["HTML, as written", "<div>\n<b>x</b> &lt;y&gt; &amp; &#65;", ["<div>", "<b>x</b> &lt;y&gt; &amp; &#65;"]],
    ["characters by name", "a &lt;b&gt; &amp; &#65; &copy;", ["a <b> & A &copy;"]],
    ["line ends of Windows", "# a\r\nb\r\n", ["a", "", "b"]],
    ["nothing", "", []],
  ])("shows %s", async (_, text, lines) => {
    expect((await shown(text)).map((each) => each.trimEnd())).toEqual(lines);
  });

  it("makes a link only of a text that is its target, and only to the web", async () => {
    const links = async (text: string): Promise<readonly (readonly [string, string])[]> =>
      (await finalLines([text])).flat().flatMap(({ text: shown, style }) => (style.link ? [[shown, style.link]] : []));
    expect(await links("https://a.test")).toEqual([["https://a.test", "https://a.test"]]);
    expect(await links("[https://bank.test](https://evil.test)")).toEqual([["https://evil.test", "https://evil.test"]]);
    expect(await links("[file:///x](file:///x) <javascript:alert(1)> [a](data:text/html,x)")).toEqual([]);
  });

  it("styles words", async () => {
    expect(await finalLines(["**b *bi* `c`** ~~s~~ [t](https://u)"])).toEqual([
      [
        { text: "b ", style: { bold: true } },
        { text: "bi", style: { bold: true, italic: true } },
        { text: " ", style: { bold: true } },
        { text: "c", style: { bold: true, tone: "code" } },
        { text: " ", style: {} },
        { text: "s", style: { strike: true } },
        { text: " ", style: {} },
        { text: "t", style: { tone: "link", underline: true } },
        { text: " (", style: { tone: "muted" } },
        { text: "https://u", style: { tone: "muted", link: "https://u" } },
        { text: ")", style: { tone: "muted" } },
      ],
    ]);
  });

  it("highlights code, also across lines", async () => {
    const lines = await finalLines(["```ts\nconst a = 1; // x\n/* y\nz */ b\n```"]);
    expect(lines).toEqual([
      [
        { text: "  ", style: {} },
        { text: "const", style: { tone: "keyword" } },
        { text: " a = ", style: {} },
        { text: "1", style: { tone: "number" } },
        { text: "; ", style: {} },
        { text: "// x", style: { tone: "comment", italic: true } },
      ],
      [
        { text: "  ", style: {} },
        { text: "/* y", style: { tone: "comment", italic: true } },
      ],
      [
        { text: "  ", style: {} },
        { text: "z */", style: { tone: "comment", italic: true } },
        { text: " b", style: {} },
      ],
    ]);
  });

  it.each([
    [
      60,
      [
        "name  │  n │ what it is for",
        "──────┼────┼───────────────────────────────────",
        "first │  1 │ a rather long text that needs room",
        "b     │ 22 │ short",
      ],
    ],
    [
      40,
      [
        "name  │  n │ what it is for",
        "──────┼────┼────────────────────────────",
        "first │  1 │ a rather long text that",
        "      │    │ needs room",
        "b     │ 22 │ short",
      ],
    ],
    [
      20,
      [
        "name: first",
        "n: 1",
        "what it i…: a rather",
        "  long text that",
        "  needs room",
        "─".repeat(20),
        "name: b",
        "n: 22",
        "what it i…: short",
      ],
    ],
  ])("lays out tables for %d columns", async (width, lines) => {
    const table =
      "| name | n | what it is for |\n|---|--:|---|\n| first | 1 | a rather long text that needs room |\n| b | 22 | short |\n";
    expect((await shown(table, width)).map((each) => each.trimEnd())).toEqual(lines);
  });

  it("renders the same however it is split", async () => {
    const whole = await finalLines([sample]);
    expect(await finalLines(sample.split(""))).toEqual(whole);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(sample.length), { maxLength: 30 }), async (cuts) => {
        const places = [0, ...cuts.toSorted((one, two) => one - two), sample.length];
        expect(await finalLines(places.map((at, index) => sample.slice(at, places[index + 1] ?? at)))).toEqual(whole);
      }),
      { numRuns: runsPerTier(100) },
    );
  });

  it("of any text renders the same however it is split, within the width, and sanitized", async () => {
    const unit = fc.constantFrom(
      "a",
      " ",
      "\n",
      "\n\n",
      "#",
      "- ",
      "1. ",
      "> ",
      "```",
      "~~~",
      "*",
      "**",
      "_",
      "`",
      "|",
      "|-|-|\n",
      "[",
      "](x)",
      "<",
      "    ",
      "\t",
      "\\",
      "---\n",
      "===\n",
      "\u001b[2J",
      "\u202e",
      "日",
      "\r",
      "&#27;",
      "x y",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(unit, { maxLength: 60 }), async (pieces) => {
        const text = pieces.join("");
        const whole = await finalLines([text], 20);
        expect(await finalLines(pieces, 20)).toEqual(whole);
        expect(await finalLines(text.split(""), 20)).toEqual(whole);
        expect(whole.filter((line) => lineWidth(line) > 20).map(lineText)).toEqual([]);
        expect(whole.map(lineText).join("")).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
      }),
      { numRuns: runsPerTier(400) },
    );
  });

  it.each([
    ["python", 'f"{'.repeat(15_000)],
    ["swift", '"\\('.repeat(15_000)],
    ["swift", '"\\(\n'.repeat(1000)],
    ["ruby", '"#{'.repeat(15_000)],
    ["markdown", "[".repeat(45_000)],
  ])("skips highlighting that would take too long: %s", async (language, code) => {
    const own = createHighlighter();
    await own.load(language);
    expect(own.highlight(code, language)).toEqual({
      lines: code.split("\n").map((text) => [{ text, style: {} }]),
      isWhole: true,
    });
  });

  it("renders the same whether a language is loaded before or during streaming", async () => {
    const slow = createHighlighter();
    expect(await finalLines(sample.split(""), 40, slow)).toEqual(await finalLines([sample]));
  });

  it("prints a finished block, and shows the open one meanwhile", () => {
    const stream = new MarkdownStream({ lexer, highlighter }, 40);
    const seen: (readonly [readonly string[], readonly string[]])[] = [];
    for (const piece of ["# Ti", "tle\npa", "ra **bo", "ld**\n", "\n- it", "em\n- two", "\n```\nco", "de\nmo"]) {
      stream.write(piece);
      seen.push([stream.takeFinal().map(lineText), stream.openLines().map(lineText)]);
    }
    expect(seen).toEqual([
      [[], ["Ti"]],
      [["Title"], ["", "pa"]],
      [[], ["", "para **bo"]],
      [[], ["", "para bold"]],
      [
        ["", "para bold"],
        ["", "• it"],
      ],
      [[], ["", "• item", "• two"]],
      [["", "• item", "• two", ""], ["  co"]],
      [["  code"], ["  mo"]],
    ]);
  });

  it("prints a line of code once no scope is open", async () => {
    await highlighter.load("ts");
    const stream = new MarkdownStream({ lexer, highlighter }, 40);
    const taken = (text: string): readonly string[] => {
      stream.write(text);
      return stream.takeFinal().map(lineText);
    };
    expect([taken("```ts\n// a\n"), taken("let b;\n"), taken("/* c\n"), taken("d */\n")]).toEqual([
      ["  // a"],
      ["  let b;"],
      [],
      ["  /* c", "  d */"],
    ]);
    const comment = taken(`/*\n${"long\n".repeat(100)}`);
    expect([comment.length >= 40, stream.openLines().length <= 40]).toEqual([true, true]);
  });

  it("nested beyond reason is shown as written", async () => {
    expect(await shown(`${"> ".repeat(30)}x`, 80)).toEqual([`${"> ".repeat(30)}x`]);
    expect(await shown("> > > x", 80)).toEqual(["│ │ │ x"]);
  });

  it("shows rows of an open table once they are complete", () => {
    const stream = new MarkdownStream({ lexer, highlighter }, 40);
    stream.write("| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | ");
    const open = stream.openLines();
    expect(open.map(lineText)).toEqual(["a │ b", "──┼──", "1 │ 2"]);
    stream.write("4");
    expect(stream.openLines()).toBe(open);
    stream.write(" |\n");
    expect(stream.openLines().map(lineText)).toEqual(["a │ b", "──┼──", "1 │ 2", "3 │ 4"]);
    stream.resize(20);
    expect(stream.openLines()).not.toBe(open);
  });

  it("holds code back until its language is loaded", async () => {
    const loading = createHighlighter();
    let ready = 0;
    const stream = new MarkdownStream({ lexer, highlighter: loading, onReady: () => (ready += 1) }, 40);
    stream.write("```python\nimport x\n");
    expect([stream.takeFinal(), stream.openLines().map(lineText)]).toEqual([[], ["  import x"]]);
    await stream.settled();
    expect([ready, stream.takeFinal()]).toEqual([
      1,
      [
        [
          { text: "  ", style: {} },
          { text: "import", style: { tone: "keyword" } },
          { text: " x", style: {} },
        ],
      ],
    ]);
  });

  it("takes constant work per piece, whatever came before", () => {
    let letters = 0;
    const counting: Lexer = (text) => {
      letters += text.length;
      return lexer(text);
    };
    const stream = new MarkdownStream({ lexer: counting, highlighter }, 80);
    const work: number[] = [];
    for (const size of perTier({ quick: [100, 500], all: [200, 2000] })) {
      letters = 0;
      for (let count = 0; count < size; count++) {
        stream.write(`Paragraph ${count} with **some** words.\n\n- item\n- item\n\n`);
        stream.openLines();
        stream.takeFinal();
      }
      work.push(Math.round(letters / size));
    }
    expect(work[1]).toBeLessThanOrEqual((work[0] ?? 0) + 2);
  });

  it.each(sampleCases(["[", "> ", "- ", "**a", "_a_", "|-", "`", "<!--\n", "  - \n", "x"], 4))(
    "of fifty thousand %j finishes, in bounded pieces",
    async (piece) => {
      const longest = { letters: 0 };
      const stream = new MarkdownStream(
        {
          lexer: (text) => {
            longest.letters = Math.max(longest.letters, text.length);
            return lexer(text);
          },
          highlighter,
        },
        80,
      );
      stream.write(piece.repeat(50_000 / piece.length));
      stream.end();
      await stream.settled();
      expect(longest.letters).toBeLessThan(16_000);
      expect(stream.takeFinal().length).toBeGreaterThan(0);
    },
  );

  it("repeats the head of a table beyond the size limit", async () => {
    const rows = Array.from({ length: 250 }, (_, at) => `| ${at} | x |\n`).join("");
    const lines = await shown(`| n | v |\n|---|---|\n${rows}`);
    expect(lines.filter((line) => line.startsWith("n")).length).toBe(2);
    expect(lines.filter((line) => /^\d+ +│ x/.test(line)).length).toBe(250);
  });
});
