import { describe, expect, it } from "vitest";
import { parseSettings } from "../../policy/trust/settings-json.ts";
import { removeValueFromText, setValueInText } from "./edit.ts";
import { toPlainValue } from "./node.ts";
import { fc, runsPerTier } from "../../../test/support/fast-check.ts";

const plain = async (text: string): Promise<unknown> => {
  const parsed = await parseSettings(text);
  if (!parsed.ok) throw new Error(`${parsed.problem} in ${text}`);
  return toPlainValue(parsed.node);
};

describe("setting a value in a text", () => {
  it.each([
    ["creates a file", "", "model", "a/b", '{\n  "model": "a/b"\n}\n'],
    ["creates parent objects", "{}\n", "limits.spend", 5, '{\n  "limits": {\n    "spend": 5\n  }\n}\n'],
    [
      "replaces a value and nothing else",
      '{ "model" : "a/b" /* why */ }',
      "model",
      "c/d",
      '{ "model" : "c/d" /* why */ }',
    ],
    ["adds to a line", '{ "model": "a/b" }', "editor", "vi", '{ "model": "a/b", "editor": "vi" }'],
    ["keeps a trailing comma on one line", '{"model": "a/b",}', "editor", "vi", '{"model": "a/b", "editor": "vi",}'],
    ["adds a line", '{\n\t"model": "a/b"\n}\n', "editor", "vi", '{\n\t"model": "a/b",\n\t"editor": "vi"\n}\n'],
    ["keeps a trailing comma", '{\n  "model": "a/b",\n}', "editor", "vi", '{\n  "model": "a/b",\n  "editor": "vi",\n}'],
    [
      "keeps a comment on its line",
      '{\n  "model": "a/b" // mine, {"x":\n}',
      "editor",
      "vi",
      '{\n  "model": "a/b", // mine, {"x":\n  "editor": "vi"\n}',
    ],
    [
      "is inserted after comments",
      "{\n  // nothing yet\n}",
      "editor",
      "vi",
      '{\n  // nothing yet\n  "editor": "vi"\n}',
    ],
    [
      "moves a one-line comment to its own line",
      "{ /* nothing */ }",
      "editor",
      "vi",
      '{ /* nothing */\n  "editor": "vi"\n}',
    ],
    [
      "keeps line ends",
      '{\r\n    "limits": {\r\n        "spend": 1 // x\r\n    }\r\n}\r\n',
      "limits.maxTurns",
      3,
      '{\r\n    "limits": {\r\n        "spend": 1, // x\r\n        "maxTurns": 3\r\n    }\r\n}\r\n',
    ],
    [
      "handles unusual white space in a comment",
      '{\n  "model": "a/b" // x\u00a0\n}',
      "editor",
      "vi",
      '{\n  "model": "a/b", // x\u00a0\n  "editor": "vi"\n}',
    ],
    ["replaces a value that is not an object", '{"limits": 5}', "limits.spend", 1, '{"limits": {\n  "spend": 1\n}}'],
    [
      "changes the last of repeated keys",
      '{"model": "a/b", "model": "c/d"}',
      "model",
      "e/f",
      '{"model": "a/b", "model": "e/f"}',
    ],
    ["keeps a byte order mark", '\uFEFF{ "model": "a/b" }', "model", "c/d", '\uFEFF{ "model": "c/d" }'],
    [
      "indents lists",
      '{\n  "permissions": {\n    "mode": "plan"\n  }\n}',
      "permissions.deny",
      ["read_file"],
      '{\n  "permissions": {\n    "mode": "plan",\n    "deny": [\n      "read_file"\n    ]\n  }\n}',
    ],
  ])("%s", async (_, text, path, value, after) => {
    expect(await setValueInText(text, path.split("."), value)).toBe(after);
  });
});

describe("removing a value from a text", () => {
  it.each([
    ["removes its whole line", '{\n  "a": 1, // gone\n  "b": 2\n}', "a", '{\n  "b": 2\n}'],
    ["removes the comma before the last member", '{\n  "a": 1, // here\n  "b": 2\n}', "b", '{\n  "a": 1 // here\n}'],
    ["keeps the comma before it if there are trailing commas", '{\n  "a": 1,\n  "b": 2,\n}', "b", '{\n  "a": 1,\n}'],
    ["closes the gap in a line", '{ "a": 1, "b": 2, "c": 3 }', "b", '{ "a": 1, "c": 3 }'],
    ["closes the gap at the end of a line", '{ "a": 1, "b": 2 }', "b", '{ "a": 1 }'],
    ["keeps the indentation of what follows", '{\n  "a": 1, "b": 2\n}', "a", '{\n  "b": 2\n}'],
    ["removes empty parents", '{\n  "x": {\n    "y": 1\n  },\n  "b": 2\n}', "x.y", '{\n  "b": 2\n}'],
    ["keeps a parent with a comment", '{\n  "x": { /* why */ "y": 1 }\n}', "x.y", '{\n  "x": { /* why */ }\n}'],
    ["removes repeated keys", '{"a": 1, "a": 2, "b": 3}', "a", '{ "b": 3}'],
    ["does nothing if it is not set", '{ "a": 1 } // x', "b.c", '{ "a": 1 } // x'],
    ["does nothing in an empty file", "", "a", ""],
  ])("%s", async (_, text, path, after) => {
    expect(await removeValueFromText(text, path.split("."))).toBe(after);
  });
});

/** JSON written by hand: the value with comments, white space and trailing commas in random places. */
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

/** Makes the same change to the value itself. */
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
  it("changes only the value that was set, and keeps comments", async () => {
    await fc.assert(
      fc.asyncProperty(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        put,
        async ({ value, text }, names, wanted) => {
          const after = await setValueInText(text, names, wanted);
          expect(await plain(after)).toEqual(setIn(value, names, wanted));
          if (at(value, names) === undefined && isTree(at(value, names.slice(0, -1))))
            expect(comments(after)).toEqual(comments(text));
        },
      ),
      { numRuns: runsPerTier(3000) },
    );
  });

  it("changes only the value that was removed", async () => {
    await fc.assert(
      fc.asyncProperty(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        async ({ value, text }, names) => {
          const after = await removeValueFromText(text, names);
          expect(at(await plain(after), names)).toBeUndefined();
          if (at(value, names) === undefined) expect(after).toBe(text);
          else expect(setIn(await plain(after), names, 0)).toEqual(setIn(value, names, 0));
        },
      ),
      { numRuns: runsPerTier(3000) },
    );
  });

  it("is unchanged after set and unset", async () => {
    await fc.assert(
      fc.asyncProperty(
        tree.chain((value) => fc.record({ value: fc.constant(value), text: handwritten(value) })),
        path,
        put,
        async ({ value, text }, names, wanted) => {
          fc.pre(names.every((_, index) => at(value, names.slice(0, index + 1)) === undefined));
          expect(await plain(await removeValueFromText(await setValueInText(text, names, wanted), names))).toEqual(
            value,
          );
        },
      ),
      { numRuns: runsPerTier(2000) },
    );
  });
});
