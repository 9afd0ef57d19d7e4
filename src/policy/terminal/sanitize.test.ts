import { describe, expect, it } from "vitest";
import {
  sanitizeForTerminal,
  escapeJsonForTerminal,
  TerminalSanitizer,
  displayCommand,
  type SanitizeMode,
} from "./sanitize.ts";
import { fc } from "../../../test/support/fast-check.ts";

const flood = `e${"\u0301".repeat(5000)}`;
const family = "👨\u200d👩\u200d👧\u200d👦";

/** Inputs with their sanitized forms for output and for approval. */
const rows: readonly (readonly [what: string, text: string, output: string, visible: string])[] = [
  ["writing the clipboard", "a\u001b]52;c;ZXZpbA==\u0007b", "ab", "a␛]52;c;ZXZpbA==␇b"],
  ["reading the clipboard", "a\u001b]52;c;?\u0007b", "ab", "a␛]52;c;?␇b"],
  ["a title, closed by ST", "a\u001b]0;t\u001b\\b", "ab", "a␛]0;t␛\\b"],
  ["eight-bit OSC", "a\u009d52;c;ZXZpbA==\u009cb", "ab", "a<U+009D>52;c;ZXZpbA==<U+009C>b"],
  ["eight-bit CSI", "a\u009b2Jb", "ab", "a<U+009B>2Jb"],
  ["eight-bit DCS", "a\u0090q#0\u009cb", "ab", "a<U+0090>q#0<U+009C>b"],
  [
    "a link that is not what it says",
    "\u001b]8;;http://evil.test/\u001b\\safe.test\u001b]8;;\u001b\\",
    "safe.test",
    "␛]8;;http://evil.test/␛\\safe.test␛]8;;␛\\",
  ],
  ["a palette query", "\u001b]4;1;?\u0007", "", "␛]4;1;?␇"],
  ["a colour query", "\u001b]10;?\u0007", "", "␛]10;?␇"],
  ["a folder report", "\u001b]7;file:///x\u0007", "", "␛]7;file:///x␇"],
  ["a notification", "\u001b]9;notify\u0007", "", "␛]9;notify␇"],
  ["another notification", "\u001b]777;notify;a;b\u0007", "", "␛]777;notify;a;b␇"],
  ["a file", "\u001b]1337;File=inline=1:QUFB\u0007", "", "␛]1337;File=inline=1:QUFB␇"],
  ["an upload request", "\u001b]1337;RequestUpload=format=tgz\u0007", "", "␛]1337;RequestUpload=format=tgz␇"],
  ["a picture", "\u001b_Gf=100;AAAA\u001b\\", "", "␛_Gf=100;AAAA␛\\"],
  ["a capability query", "\u001bP+q544e\u001b\\", "", "␛P+q544e␛\\"],
  ["passing through tmux", "\u001bPtmux;\u001b\u001b]52;c;AA==\u0007\u001b\\", "", "␛Ptmux;␛␛]52;c;AA==␇␛\\"],
  ["a privacy message", "\u001b^x\u001b\\", "", "␛^x␛\\"],
  ["a string", "\u001bXx\u001b\\", "", "␛Xx␛\\"],
  ["a reset", "a\u001bcb", "ab", "a␛cb"],
  ["a cleared screen", "\u001b[2J\u001b[H", "", "␛[2J␛[H"],
  ["a cleared history", "\u001b[3J", "", "␛[3J"],
  ["another screen", "\u001b[?1049h", "", "␛[?1049h"],
  ["the mouse", "\u001b[?1003h", "", "␛[?1003h"],
  ["the end of pasting", "a\u001b[201~rm x", "arm x", "a␛[201~rm x"],
  ["unbracketed pasting", "\u001b[?2004l", "", "␛[?2004l"],
  ["a cursor query", "\u001b[6n", "", "␛[6n"],
  ["a device query", "\u001b[c", "", "␛[c"],
  ["a keyboard protocol", "\u001b[>1u", "", "␛[>1u"],
  ["a mode query", "\u001b[?2026$p", "", "␛[?2026$p"],
  ["hidden text", "\u001b[8mhidden\u001b[0m", "hidden", "␛[8mhidden␛[0m"],
  ["text of one colour", "\u001b[38;5;0;48;5;0mhidden", "hidden", "␛[38;5;0;48;5;0mhidden"],
  ["another character set", "\u001b(0lqk\u001b(B", "lqk", "␛(0lqk␛(B"],
  ["an escape put together by taking one out", "\u001b\u001b[31m[31mx", "[31mx", "␛␛[31m[31mx"],
  ["a carriage return", "rm -rf x\rls -la  ", "rm -rf x␍ls -la  ", "rm -rf x␍ls -la  "],
  ["a line end of Windows", "a\r\nb", "a\nb", "a␍\nb"],
  ["a backspace", "rm x\b\b\b\bls  ", "rm x␈␈␈␈ls  ", "rm x␈␈␈␈ls  "],
  ["an OSC without end", "a\u001b]52;c;AAAA", "a␛", "a␛]52;c;AAAA"],
  ["an OSC that ends with its line", "a\u001b]0;b\nc", "a␛\nc", "a␛]0;b\nc"],
  ["a CSI without end", "a\u001b[3", "a␛", "a␛[3"],
  ["a CSI broken by a line end", "a\u001b[3\n1mb", "a␛\n1mb", "a␛[3\n1mb"],
  ["a selector after a broken escape", "❤\u001b\ufe0f", "❤␛", "❤␛<U+FE0F>"],
  [
    "a joiner after a tower of accents",
    `क${"\u093f".repeat(17)}\u200dष`,
    `क${"\u093f".repeat(16)}\ufffdष`,
    `क${"\u093f".repeat(16)}\ufffd<U+200D>ष`,
  ],
  ["an escape alone", "a\u001b", "a␛", "a␛"],
  ["an escape before a letter beyond ASCII", "a\u001bé", "a␛é", "a␛é"],
  ["DEL", "a\u007fb", "a␡b", "a␡b"],
  ["NUL, bell and the like", "\0\u0007\u000b\u000c\u000e", "␀␇␋␌␎", "␀␇␋␌␎"],
  ["an eight-bit line end", "a\u0085b", "a<U+0085>b", "a<U+0085>b"],
  ["line separators", "a\u2028b\u2029c", "a<U+2028>b<U+2029>c", "a<U+2028>b<U+2029>c"],
  ["a turn of direction", "a\u202egnp.exe", "a<U+202E>gnp.exe", "a<U+202E>gnp.exe"],
  ["isolates", "\u2066a\u2069", "<U+2066>a<U+2069>", "<U+2066>a<U+2069>"],
  ["direction marks", "a\u200e\u200f\u061cb", "ab", "a<U+200E><U+200F><U+061C>b"],
  ["zero width", "a\u200bb\u200d\u2060\ufeff", "ab", "a<U+200B>b<U+200D><U+2060><U+FEFF>"],
  ["fillers and soft hyphens", "a\u3164\u115f\u00ad\u034fb", "ab", "a<U+3164><U+115F><U+00AD><U+034F>b"],
  ["tags", "a\u{e0041}\u{e007f}b", "ab", "a<U+E0041><U+E007F>b"],
  ["selectors as data", "a\ufe0f\u{e0100}\ufe00", "a", "a<U+FE0F><U+E0100><U+FE00>"],
  ["selectors of other forms", "❤\ufe00", "❤", "❤<U+FE00>"],
  ["more selectors than one", "❤\ufe0f\ufe0f\ufe0e", "❤\ufe0f", "❤\ufe0f<U+FE0F><U+FE0E>"],
  ["halves of letters", "a\ud800b\udc00\udc00c", "a\ufffdb\ufffd\ufffdc", "a\ufffdb\ufffd\ufffdc"],
  ["numbers that are no letters", "a\uffff\u{1fffe}\ufdd0", "a\ufffd\ufffd\ufffd", "a\ufffd\ufffd\ufffd"],
  ["a tower of accents", flood, `e${"\u0301".repeat(16)}\ufffd`, `e${"\u0301".repeat(16)}\ufffd`],
  ["spaces that are none", "rm\u00a0x\u3000y", "rm\u00a0x\u3000y", "rm<U+00A0>x<U+3000>y"],
];

/** Ordinary texts in many languages. */
const harmless: readonly string[] = [
  "plain text\twith tabs\nand lines\n",
  "Grüße, naïve café, Ελλάδα, Россия, 日本語, 한국어, עברית, العربية, ไทย, हिन्दी, தமிழ்",
  "می\u200cخواهم, क\u094d\u200dष, 葛\u{e0100}飾区",
  family.repeat(100),
  "❤\ufe0f 1\ufe0f\u20e3 🏳\ufe0f\u200d🌈 👩🏽\u200d💻 👍🏿 🇩🇪 ☎\ufe0e",
  "█▓▒░ ⠋ ⣿ → ∑ \ue0b0",
];

describe("the fast path for plain text", () => {
  it.each(["output", "visible", "line"] as const)(
    "gives the same result as the slow path for every character: %s",
    (mode) => {
      const letters = Array.from({ length: 0x7f - 0x20 }, (_, at) => String.fromCharCode(0x20 + at));
      const known = mode === "line" ? letters : [...letters, "\t", "\n"];
      for (const text of [known.join(""), known.toReversed().join(""), "", ...known]) {
        const stream = new TerminalSanitizer(mode);
        expect(sanitizeForTerminal(text, mode)).toBe(stream.write(text) + stream.end());
        expect(sanitizeForTerminal(text, mode)).toBe(text);
      }
    },
  );
});

describe("sanitized text", () => {
  it.each(rows)("of %s, as output", (_, text, output) => {
    expect(sanitizeForTerminal(text)).toBe(output);
  });

  it.each(rows)("of %s, for approval", (_, text, __, visible) => {
    expect(sanitizeForTerminal(text, "visible")).toBe(visible);
  });

  it.each(harmless)("of ordinary text is unchanged: %s", (text) => {
    expect(sanitizeForTerminal(text)).toBe(text);
  });

  it("is one line in line mode", () => {
    expect(sanitizeForTerminal("done\n2026-01-01 ERROR forged\r\n\tx", "line")).toBe(
      "done␊2026-01-01 ERROR forged␍␊␉x",
    );
  });

  it.each([...rows.map(([, text]) => text), ...harmless].filter((text) => text.length < 500))(
    "is the same however it comes: %j",
    (text) => {
      const bytes = new TextEncoder().encode(text);
      const wellFormed = text.toWellFormed();
      for (const mode of ["output", "visible", "line"] as const) {
        const expected = sanitizeForTerminal(text, mode);
        for (let at = 0; at <= text.length; at += 1)
          expect(inPieces([text.slice(0, at), text.slice(at)], mode)).toBe(expected);
        expect(inPieces(text.split(""), mode)).toBe(expected);
        for (let at = 0; at <= bytes.length; at += 1)
          expect(inPieces([bytes.subarray(0, at), bytes.subarray(at)], mode)).toBe(
            sanitizeForTerminal(wellFormed, mode),
          );
        expect(
          inPieces(
            [...bytes].map((byte) => Uint8Array.of(byte)),
            mode,
          ),
        ).toBe(sanitizeForTerminal(wellFormed, mode));
      }
    },
  );

  it("contains nothing that acts on a terminal, whatever the input", () => {
    fc.assert(
      fc.property(hostileText, fc.constantFrom<SanitizeMode>("output", "visible", "line"), (text, mode) => {
        const shown = sanitizeForTerminal(text, mode);
        expect(shown).not.toMatch(acting);
        expect(shown.isWellFormed()).toBe(true);
        if (mode === "line") expect(shown).not.toMatch(/[\n\t]/);
        expect(sanitizeForTerminal(shown, mode)).toBe(shown);
      }),
      { numRuns: 3000 },
    );
  });

  it("does not depend on chunk boundaries", () => {
    fc.assert(
      fc.property(
        fc.array(hostileText, { maxLength: 6 }),
        fc.constantFrom<SanitizeMode>("output", "visible"),
        (pieces, mode) => {
          expect(inPieces(pieces, mode)).toBe(sanitizeForTerminal(pieces.join(""), mode));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it("of ten million letters on one line is unchanged", () => {
    const line = "word ".repeat(2_000_000);
    expect(sanitizeForTerminal(line) === line).toBe(true);
  });

  it("of invalid bytes has replacement characters", () => {
    expect(inPieces([Uint8Array.of(0x61, 0x9b, 0x32, 0x4a, 0xff)], "output")).toBe("a\ufffd2J\ufffd");
  });
});

describe("a command in an approval", () => {
  it.each([
    ["ls -la", "ls -la"],
    [`grep x README.md${" ".repeat(80)}; touch y`, "grep x README.md ⟨80 spaces⟩ ; touch y"],
    [`ls${"\t".repeat(30)}; rm x`, "ls ⟨30 spaces⟩ ; rm x"],
    [`ls${"\n".repeat(50)}rm x`, "ls\n⟨49 empty lines⟩\nrm x"],
    [`ls${"\n  ".repeat(50)}rm x`, "ls\n⟨49 empty lines⟩\n  rm x"],
    ["rm -rf x\rls -la", "rm -rf x␍ls -la"],
    ["ls \u001b[8m; rm x", "ls ␛[8m; rm x"],
    ["ls\u00a0; \u202erm", "ls<U+00A0>; <U+202E>rm"],
    ["if true; then\n  echo 'a        b'\nfi", "if true; then\n  echo 'a        b'\nfi"],
  ])("is shown completely: %j", (command, shown) => {
    expect(displayCommand(command)).toBe(shown);
  });
});

describe("JSON for a terminal", () => {
  it("is the same value with escapes", () => {
    const value = { a: "\u001b]0;x\u0007\u009b2J\u202e\u{e0041}\ud800 é \u2028", b: ["\u007f"] };
    const json = escapeJsonForTerminal(JSON.stringify(value));
    expect(JSON.parse(json)).toEqual(value);
    expect(json).not.toMatch(acting);
  });
});

const inPieces = (pieces: readonly (string | Uint8Array)[], mode: SanitizeMode): string => {
  const stream = new TerminalSanitizer(mode);
  return pieces.map((piece) => stream.write(piece)).join("") + stream.end();
};

/** Controls, turns of direction, tags, halves of letters: written out again, by number, to check the patterns of the code. */
const acting = new RegExp(
  `[${[
    "0000-0008",
    "000b-001f",
    "007f-009f",
    "00ad",
    "061c",
    "180e",
    "200b",
    "200e-200f",
    "2028-202e",
    "2060-206f",
    "feff",
  ]
    .map((range) => range.replaceAll(/[\da-f]{4}/g, "\\u{$&}"))
    .join("")}\\u{fff9}-\\u{fffb}\\u{e0000}-\\u{e00ff}\\p{Cs}]`,
  "u",
);

const hostileText: fc.Arbitrary<string> = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        "\u001b",
        "[",
        "]",
        "P",
        "\\",
        "\u0007",
        "\u009b",
        "\u009c",
        "\u009d",
        "\r",
        "\n",
        "\t",
        ";",
        "2J",
        "m",
        "\u0018",
      ),
      fc.constantFrom(
        "a",
        "é",
        "\u0301",
        "\u200d",
        "\u200c",
        "\ufe0f",
        "\u202e",
        "\u{e0041}",
        "\ud83d",
        "\udc69",
        "👩",
        "💻",
        "1",
        "\u20e3",
        "\u3164",
      ),
      fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)),
      fc
        .integer({ min: 0, max: 0x10ffff })
        .filter((code) => code < 0xd800 || code > 0xdfff)
        .map((code) => String.fromCodePoint(code)),
    ),
    { maxLength: 24 },
  )
  .map((parts) => parts.join(""));
