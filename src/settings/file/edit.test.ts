import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { removeValueFromText, setValueInText } from "./edit.ts";
import { toPlainValue } from "./node.ts";

const plain = (text: string): unknown => {
  const parsed = parseSettings(text);
  if (!parsed.ok) throw new Error(`${parsed.problem} in ${text}`);
  return toPlainValue(parsed.node);
};

describe("setting a value in a text", () => {
  it.each([
    ["makes a file", "", "model", "a/b", '{\n  "model": "a/b"\n}\n'],
    ["makes what is around it", "{}\n", "limits.spend", 5, '{\n  "limits": {\n    "spend": 5\n  }\n}\n'],
    [
      "replaces a value and nothing else",
      '{ "model" : "a/b" /* why */ }',
      "model",
      "c/d",
      '{ "model" : "c/d" /* why */ }',
    ],
    ["adds to a line", '{ "model": "a/b" }', "editor", "vi", '{ "model": "a/b", "editor": "vi" }'],
    ["keeps a comma at the end of a line", '{"model": "a/b",}', "editor", "vi", '{"model": "a/b", "editor": "vi",}'],
    ["adds a line", '{\n\t"model": "a/b"\n}\n', "editor", "vi", '{\n\t"model": "a/b",\n\t"editor": "vi"\n}\n'],
    [
      "keeps a comma at the end",
      '{\n  "model": "a/b",\n}',
      "editor",
      "vi",
      '{\n  "model": "a/b",\n  "editor": "vi",\n}',
    ],
    [
      "leaves a comment with its line",
      '{\n  "model": "a/b" // mine, {"x":\n}',
      "editor",
      "vi",
      '{\n  "model": "a/b", // mine, {"x":\n  "editor": "vi"\n}',
    ],
    ["stands after comments", "{\n  // nothing yet\n}", "editor", "vi", '{\n  // nothing yet\n  "editor": "vi"\n}'],
    ["takes comments on one line apart", "{ /* nothing */ }", "editor", "vi", '{ /* nothing */\n  "editor": "vi"\n}'],
    [
      "keeps the ends of lines as they are",
      '{\r\n    "limits": {\r\n        "spend": 1 // x\r\n    }\r\n}\r\n',
      "limits.maxTurns",
      3,
      '{\r\n    "limits": {\r\n        "spend": 1, // x\r\n        "maxTurns": 3\r\n    }\r\n}\r\n',
    ],
    [
      "is not misled by odd white space in a comment",
      '{\n  "model": "a/b" // x\u00a0\n}',
      "editor",
      "vi",
      '{\n  "model": "a/b", // x\u00a0\n  "editor": "vi"\n}',
    ],
    ["replaces what is no object", '{"limits": 5}', "limits.spend", 1, '{"limits": {\n  "spend": 1\n}}'],
    [
      "changes the one that counts",
      '{"model": "a/b", "model": "c/d"}',
      "model",
      "e/f",
      '{"model": "a/b", "model": "e/f"}',
    ],
    ["keeps a byte order mark", '\uFEFF{ "model": "a/b" }', "model", "c/d", '\uFEFF{ "model": "c/d" }'],
    [
      "writes lists over lines, at their depth",
      '{\n  "permissions": {\n    "mode": "plan"\n  }\n}',
      "permissions.deny",
      ["read_file"],
      '{\n  "permissions": {\n    "mode": "plan",\n    "deny": [\n      "read_file"\n    ]\n  }\n}',
    ],
  ])("%s", (_, text, path, value, after) => {
    expect(setValueInText(text, path.split("."), value)).toBe(after);
  });
});

describe("taking a value out of a text", () => {
  it.each([
    ["leaves nothing of its line", '{\n  "a": 1, // gone\n  "b": 2\n}', "a", '{\n  "b": 2\n}'],
    [
      "takes the comma before it, where it was the last",
      '{\n  "a": 1, // here\n  "b": 2\n}',
      "b",
      '{\n  "a": 1 // here\n}',
    ],
    ["keeps the comma before it, where commas end", '{\n  "a": 1,\n  "b": 2,\n}', "b", '{\n  "a": 1,\n}'],
    ["closes the gap in a line", '{ "a": 1, "b": 2, "c": 3 }', "b", '{ "a": 1, "c": 3 }'],
    ["closes the gap at the end of a line", '{ "a": 1, "b": 2 }', "b", '{ "a": 1 }'],
    ["keeps the indentation of what follows", '{\n  "a": 1, "b": 2\n}', "a", '{\n  "b": 2\n}'],
    ["takes what is left empty around it", '{\n  "x": {\n    "y": 1\n  },\n  "b": 2\n}', "x.y", '{\n  "b": 2\n}'],
    ["leaves what holds a comment", '{\n  "x": { /* why */ "y": 1 }\n}', "x.y", '{\n  "x": { /* why */ }\n}'],
    ["takes all that stand there", '{"a": 1, "a": 2, "b": 3}', "a", '{ "b": 3}'],
    ["does nothing where there is none", '{ "a": 1 } // x', "b.c", '{ "a": 1 } // x'],
    ["does nothing in an empty file", "", "a", ""],
  ])("%s", (_, text, path, after) => {
    expect(removeValueFromText(text, path.split("."))).toBe(after);
  });
});

/** JSON as people write it: the same value with comments, gaps and commas anywhere they may stand. */
const handwritten = (value: unknown): fc.Arbitrary<string> => {
  const gap = fc.constantFrom("", "", " ", "\n", "\n  ", " // n, }\n", '/* , " { */', "\r\n\t", " // \u00a0\n");
  const between = (open: string, items: readonly fc.Arbitrary<string>[], close: string): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.array(gap, { minLength: items.length * 2 + 2, maxLength: items.length * 2 + 2 }),
        fc.boolean(),
        ...items,
      )
      .map(
        ([gaps, trailing, ...texts]) =>
          open +
          texts.map((text, at) => `${at === 0 ? "" : ","}${gaps[at * 2]}${text}${gaps[at * 2 + 1]}`).join("") +
          (trailing && texts.length > 0 ? "," : "") +
          `${gaps.at(-1)}${close}`,
      );
  if (Array.isArray(value)) return between("[", value.map(handwritten), "]");
  if (typeof value !== "object" || value === null) return fc.constant(JSON.stringify(value));
  const members = Object.entries(value).map(([key, inside]) =>
    fc.tuple(gap, gap, handwritten(inside)).map(([one, two, text]) => `${JSON.stringify(key)}${one}:${two}${text}`),
  );
  return between("{", members, "}");
};

type Tree = { readonly [key: string]: unknown };

const key = fc.constantFrom("a", "b", "limits", 'q"\\', "__proto__", "x.y", "");
const { tree } = fc.letrec<{ tree: Tree; value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>("x", "// no", 1, -2.5, true, null),
    fc.array(tie("value"), { maxLength: 2 }),
    tie("tree"),
  ),
  tree: fc.array(fc.tuple(key, tie("value")), { maxLength: 3 }).map((members) => Object.fromEntries(members) as Tree),
}));
const path = fc.array(key, { minLength: 1, maxLength: 3 });
const put = fc.constantFrom<unknown>(1, "two", false, [], ["a", { b: 1 }], { c: { d: 1 } });

/** The same change, made to the value itself. */
const setIn = (value: unknown, [name, ...rest]: readonly string[], wanted: unknown): unknown => {
  if (name === undefined) return wanted;
  const here = isTree(value) ? Object.entries(value) : [];
  const inside = setIn(here.find(([each]) => each === name)?.[1], rest, wanted);
  const others = here.map(([each, item]) => [each, each === name ? inside : item] as const);
  return Object.fromEntries(here.some(([each]) => each === name) ? others : [...others, [name, inside]]);
};

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

const at = (value: unknown, names: readonly string[]): unknown =>
  names.reduce<unknown>(
    (inside, name) => (isTree(inside) && Object.hasOwn(inside, name) ? inside[name] : undefined),
    value,
  );

const comments = (text: string): readonly string[] => text.match(/\/\/ (?:n, \}|\u00a0)|\/\* , " \{ \*\//g) ?? [];

describe("any file", () => {
  it("means the same but for the value that was set, and keeps its comments", () => {
    fc.assert(
      fc.property(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        put,
        ({ value, text }, names, wanted) => {
          const after = setValueInText(text, names, wanted);
          expect(plain(after)).toEqual(setIn(value, names, wanted));
          if (at(value, names) === undefined && isTree(at(value, names.slice(0, -1))))
            expect(comments(after)).toEqual(comments(text));
        },
      ),
      { numRuns: 3000, seed: 7 },
    );
  });

  it("means the same but for the value that was taken out", () => {
    fc.assert(
      fc.property(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        ({ value, text }, names) => {
          const after = removeValueFromText(text, names);
          expect(at(plain(after), names)).toBeUndefined();
          if (at(value, names) === undefined) expect(after).toBe(text);
          else expect(setIn(plain(after), names, 0)).toEqual(setIn(value, names, 0));
        },
      ),
      { numRuns: 3000, seed: 8 },
    );
  });

  it("set and then unset is as it was", () => {
    fc.assert(
      fc.property(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        put,
        ({ value, text }, names, wanted) => {
          fc.pre(names.every((_, index) => at(value, names.slice(0, index + 1)) === undefined));
          expect(plain(removeValueFromText(setValueInText(text, names, wanted), names))).toEqual(value);
        },
      ),
      { numRuns: 2000, seed: 9 },
    );
  });
});
