import { assert, array, constantFrom, property, tuple, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { createDiffDisplay } from "./diff-display.ts";
import { diffLines, type LineChange } from "./diff-lines.ts";

const side = (changes: readonly LineChange[], gone: LineChange["sign"]): readonly string[] =>
  changes.filter(({ sign }) => sign !== gone).map(({ line }) => line);

const lines = array(constantFrom("a", "b", "c", "d", "e", "f"), { maxLength: 30 });

/** The length of the longest run of lines both have, the plain way. */
const longest = (one: readonly string[], other: readonly string[]): number => {
  let row = Array.from({ length: other.length + 1 }, () => 0);
  for (const line of one)
    row = other.reduce<number[]>(
      (next, each, index) => [
        ...next,
        line === each ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0),
      ],
      [0],
    );
  return row.at(-1) ?? 0;
};

describe("the difference between two texts", () => {
  it("leads from one to the other", () => {
    assert(
      property(lines, lines, (old, fresh) => {
        const changes = diffLines(old, fresh);
        expect([side(changes, "+"), side(changes, "-")]).toEqual([old, fresh]);
      }),
    );
  });

  it("is as small as can be where the texts are short", () => {
    assert(
      property(lines, lines, (old, fresh) => {
        const kept = diffLines(old, fresh).filter(({ sign }) => sign === " ").length;
        expect(kept).toBe(longest(old, fresh));
      }),
    );
  });

  it("leads from one to the other where they are long, too, and finds what few lines they share", () => {
    const old = Array.from({ length: 3000 }, (_, index) => (index % 10 === 0 ? `same ${index}` : `old ${index % 7}`));
    const fresh = Array.from({ length: 3000 }, (_, index) => (index % 10 === 0 ? `same ${index}` : `new ${index % 5}`));
    const changes = diffLines(old, fresh);
    expect([side(changes, "+"), side(changes, "-")]).toEqual([old, fresh]);
    expect(changes.filter(({ sign }) => sign === " ")).toHaveLength(300);
  });

  it("shows a text that came or went as a whole", () => {
    const text = tuple(string(), constantFrom("", "\n")).map(([words, end]) => `x${words.replaceAll(/\s/g, "")}${end}`);
    assert(
      property(text, (after) => {
        const { stat } = createDiffDisplay({ path: "p", before: undefined, after }, after);
        expect(stat).toEqual({ aiAdded: 1, aiRemoved: 0, userAdded: 0, userRemoved: 0 });
      }),
    );
    expect(createDiffDisplay({ path: "p", before: "a\n", after: "" }, "")).toMatchObject({
      patch: "--- p\n+++ p\n@@ -1,1 +0,0 @@\n-a\n",
    });
  });

  it("puts changes that stand close together into one piece, and far ones into two", () => {
    const text = (changed: readonly number[]): string =>
      Array.from({ length: 20 }, (_, index) => (changed.includes(index) ? `new ${index}\n` : `${index}\n`)).join("");
    const pieces = (changed: readonly number[]): number =>
      createDiffDisplay({ path: "p", before: text([]), after: text(changed) }, text(changed)).patch.split("@@ -")
        .length - 1;
    expect([pieces([]), pieces([5]), pieces([5, 12]), pieces([5, 13])]).toEqual([0, 1, 1, 2]);
  });
});
