import { describe, expect, it } from "vitest";
import { parsePlainCommands } from "./plain.ts";
import { fc } from "../../../../test/support/fast-check.ts";

/** The operator before each command, and its words. */
const read = (text: string): readonly (readonly string[])[] | string => {
  const reading = parsePlainCommands(text);
  return reading.plain ? reading.commands.map(({ operator, words }) => [operator, ...words]) : "more";
};

describe("a plain command line", () => {
  it.each<[string, readonly (readonly string[])[]]>([
    ["ls", [["first", "ls"]]],
    [" \tls\t-l \n", [["first", "ls", "-l"]]],
    [
      "a && b || c | d; e\nf",
      [
        ["first", "a"],
        ["&&", "b"],
        ["||", "c"],
        ["|", "d"],
        [";", "e"],
        [";", "f"],
      ],
    ],
    [
      "a&&b||c|d;e",
      [
        ["first", "a"],
        ["&&", "b"],
        ["||", "c"],
        ["|", "d"],
        [";", "e"],
      ],
    ],
    [
      "a |\n\n b &&\n c ||\n d",
      [
        ["first", "a"],
        ["|", "b"],
        ["&&", "c"],
        ["||", "d"],
      ],
    ],
    [
      "\n\na;\n\nb;",
      [
        ["first", "a"],
        [";", "b"],
      ],
    ],
    ["a 'b c' \"d e\" f\\ g", [["first", "a", "b c", "d e", "f g"]]],
    ["a '$x `y` \\z' '#' '*'", [["first", "a", "$x `y` \\z", "#", "*"]]],
    ['a "\\$x \\`y\\` \\\\ \\" \\z"', [["first", "a", '$x `y` \\ " \\z']]],
    ["a \\$x \\* \\~ \\; \\#", [["first", "a", "$x", "*", "~", ";", "#"]]],
    ["a '' \"\" b'c'\"d\"\\e", [["first", "a", "", "", "bcde"]]],
    ['grep "x$" "a$|b" "($)" "$ y"', [["first", "grep", "x$", "a$|b", "($)", "$ y"]]],
    ["git show HEAD~1 HEAD^ v1^~2 a#b", [["first", "git", "show", "HEAD~1", "HEAD^", "v1^~2", "a#b"]]],
    ["[ -f x ]", [["first", "[", "-f", "x", "]"]]],
    ["a 'b\nc' \"d\ne\"", [["first", "a", "b\nc", "d\ne"]]],
    ["a ! b=c x,y %z @w +v ü", [["first", "a", "!", "b=c", "x,y", "%z", "@w", "+v", "ü"]]],
    ["a=1 b", [["first", "b"]]],
  ])("is parsed into words: %j", (text, commands) => {
    expect(read(text)).toEqual(commands);
  });

  it.each([
    "",
    " ",
    "\n",
    ";",
    "&&",
    "a &&",
    "a |",
    "| a",
    "a; && b",
    "a\n&& b",
    "a\n; b",
    "a;;b",
    "a ; ; b",
    "a;&b",
    "a |& b",
    "a & b",
    "a&",
    "$x",
    "a $x",
    "a ${x}",
    "a $(b)",
    "a `b`",
    "a $((1))",
    'a "$x"',
    'a "$(b)"',
    'a "`b`"',
    "a $'b'",
    'a $"b"',
    "a $",
    'a "$"$x',
    'a "$\'"',
    "a > b",
    "a >b",
    "a 2>b",
    "a >>b",
    "a >|b",
    "a <>b",
    "a >/dev/null >b",
    "a >/dev/nullx",
    "a 10>/dev/null",
    "a 3>&1",
    "a {x}>/dev/null",
    "a 2>&1x",
    "a 2>& 1",
    "a 2>&-",
    "a >&3",
    "a >& b",
    "a >",
    "a <",
    "a < ; b",
    "a <&2",
    "a < $x",
    "a < ~/x",
    "a < b*",
    "<a b",
    "2>&1 a",
    ">/dev/null",
    "b=1 >/dev/null",
    "a <<b",
    "a <<<b",
    "a &>b",
    "a <(b)",
    "(a)",
    "{ a; }",
    "a {b,c}",
    "a {}",
    "a() { b; }",
    "a *",
    "a b?",
    "a [bc]",
    "a b[",
    "a ]b",
    "a ~",
    "a ~b",
    "a b=~",
    "a b:~",
    "a 'b'~",
    "a #b",
    "#a",
    "a;#b",
    "a ''#b",
    "a =b",
    "=a",
    "a=1",
    "a+=1 b",
    "a[0]=1",
    "\\a=1 b",
    "'a=1' b",
    "! a",
    "if a",
    "'if' a",
    "time a",
    "coproc a",
    "in",
    "[[ a ]]",
    "%1",
    "a\\ b c",
    "a 'b",
    'a "b',
    "a \\",
    "a b\\\nc",
    "a \\\n b",
    'a "b\\\nc"',
    "a\rb",
    "a\r\nb",
    "a\u000bb",
    "a\fb",
    "a\0b",
    "a \u0007",
    "a \u007f",
    "a\u00a0b",
    "a 'b\u00a0c'",
    "a\u2028b",
    "a\u3000b",
    "a \u200bb",
    "a \u202eb",
    "a \ufeffb",
    "a \u{e0041}",
    "a \ud800",
    "a \u00adb",
    `a ${"b".repeat(10_000)}`,
  ])("is not %j", (text) => {
    expect(read(text)).toBe("more");
  });
});

describe("a plain command line with redirections and variables", () => {
  it.each<[string, object]>([
    ["a 2>&1", { redirects: [{ stream: 2, operator: ">&", target: "1" }] }],
    ["a>&2", { redirects: [{ stream: undefined, operator: ">&", target: "2" }] }],
    ["a1>&2", { words: ["a1"], redirects: [{ stream: undefined, operator: ">&", target: "2" }] }],
    ["a '2'>/dev/null", { words: ["a", "2"], redirects: [{ stream: undefined, operator: ">", target: "/dev/null" }] }],
    [
      "a >/dev/null 2>&1",
      {
        redirects: [
          { stream: undefined, operator: ">", target: "/dev/null" },
          { stream: 2, operator: ">&", target: "1" },
        ],
      },
    ],
    ["a 2> /dev/null", { redirects: [{ stream: 2, operator: ">", target: "/dev/null" }] }],
    ["a >>/dev/null", { redirects: [{ stream: undefined, operator: ">>", target: "/dev/null" }] }],
    ["a &>/dev/null", { redirects: [{ stream: undefined, operator: "&>", target: "/dev/null" }] }],
    ["a < 'b c'", { redirects: [{ stream: undefined, operator: "<", target: "b c" }] }],
    ["b=1 c='2 3' a", { assignments: ["b=1", "c=2 3"] }],
    ["b= a x=1", { assignments: ["b="], words: ["a", "x=1"] }],
  ])("is parsed with them: %j", (text, command) => {
    expect(parsePlainCommands(text)).toEqual({
      plain: true,
      commands: [{ operator: "first", assignments: [], words: ["a"], redirects: [], ...command }],
    });
  });
});

describe("the fast path for simple lines", () => {
  it("gives the same result as the slow path, which lines that end with a blank take", () => {
    const word = fc.string({
      unit: fc.constantFrom(...Array.from("abzAZ019_./:=,@%+-")),
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 5 }), (words) => {
        expect(read(words.join(" "))).toEqual(read(`${words.join(" ")} `));
      }),
      { numRuns: 3000 },
    );
    expect(read("sleep 0.2")).toEqual([["first", "sleep", "0.2"]]);
  });
});
