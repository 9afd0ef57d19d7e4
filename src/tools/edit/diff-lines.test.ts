import { describe, expect, it } from "vitest";
import { createDiffDisplay } from "./diff-display.ts";
import { diffLines, type LineChange } from "./diff-lines.ts";
import { fc } from "../../../test/support/fast-check.ts";

const { assert, array, constantFrom, property, tuple, string } = fc;

const side = (changes: readonly LineChange[], gone: LineChange["sign"]): readonly string[] =>
  changes.filter(({ sign }) => sign !== gone).map(({ line }) => line);

const lines = array(constantFrom("a", "b", "c", "d", "e", "f"), { maxLength: 30 });

/** The length of the longest common subsequence, by the textbook algorithm. */
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

describe("the diff of two texts", () => {
  it("turns one into the other", () => {
    assert(
      property(lines, lines, (old, updated) => {
        const changes = diffLines(old, updated);
        expect([side(changes, "+"), side(changes, "-")]).toEqual([old, updated]);
      }),
    );
  });

  it("is minimal for short texts", () => {
    assert(
      property(lines, lines, (old, updated) => {
        const kept = diffLines(old, updated).filter(({ sign }) => sign === " ").length;
        expect(kept).toBe(longest(old, updated));
      }),
    );
  });

  it("turns long texts into each other too, and finds the few lines they share", () => {
    const old = Array.from({ length: 3000 }, (_, index) => (index % 10 === 0 ? `same ${index}` : `old ${index % 7}`));
    const updated = Array.from({ length: 3000 }, (_, index) =>
      index % 10 === 0 ? `same ${index}` : `new ${index % 5}`,
    );
    const changes = diffLines(old, updated);
    expect([side(changes, "+"), side(changes, "-")]).toEqual([old, updated]);
    expect(changes.filter(({ sign }) => sign === " ")).toHaveLength(300);
  });

  it("shows a text that was added or removed as a whole", () => {
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

  it("groups nearby changes into one hunk, and distant ones into two", () => {
    const text = (changed: readonly number[]): string =>
      Array.from({ length: 20 }, (_, index) => (changed.includes(index) ? `new ${index}\n` : `${index}\n`)).join("");
    const pieces = (changed: readonly number[]): number =>
      createDiffDisplay({ path: "p", before: text([]), after: text(changed) }, text(changed)).patch.split("@@ -")
        .length - 1;
    expect([pieces([]), pieces([5]), pieces([5, 12]), pieces([5, 13])]).toEqual([0, 1, 1, 2]);
  });
});
