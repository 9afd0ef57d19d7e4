import { describe, expect, it } from "vitest";
import { call, done, text } from "./builders.ts";
import type { Entry } from "./entry.ts";
import { importHistory, type ForeignEntry } from "./import-history.ts";
import type { NewPart } from "./ledger.ts";

const model = (...parts: readonly NewPart[]): ForeignEntry => ({
  type: "model",
  origin: { provider: "p", model: "m" },
  parts,
});
const result = (id: string, words: string, tool?: string): ForeignEntry =>
  tool === undefined
    ? { type: "result", id, outcome: done(words) }
    : { type: "result", id, tool, outcome: done(words) };
const user = (words: string): ForeignEntry => ({ type: "user", parts: [text(words)] });

/** Which call got which words, in the order they were recorded. */
const given = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) =>
    entry.type === "completion"
      ? entry.outcome.content.map((part) => `${entry.call.slice(10)}:${part.type === "text" ? part.text : ""}`)
      : [],
  );

describe("intake", () => {
  it.each<[string, readonly ForeignEntry[], readonly string[], readonly string[]]>([
    [
      "finds a call by its id",
      [model(call("a", {}, "x"), call("b", {}, "y")), result("y", "Y"), result("x", "X")],
      ["2:Y", "1:X"],
      [],
    ],
    [
      "gives results under one id to the calls that share it, in order",
      [model(call("a", {}, "x"), call("a", {}, "x")), result("x", "1st"), result("x", "2nd")],
      ["1:1st", "2:2nd"],
      ["reused-id"],
    ],
    [
      "takes ids that start over every turn as new calls",
      [model(call("a", {}, "f:0")), result("f:0", "one"), model(call("a", {}, "f:0")), result("f:0", "two")],
      ["1:one", "2:two"],
      ["reused-id"],
    ],
    [
      "prefers the nearest call when an older one of the same id stayed open",
      [model(call("a", {}, "x")), user("stop"), model(call("a", {}, "x")), result("x", "new")],
      ["2:new"],
      ["reused-id"],
    ],
    [
      "puts an early result behind its call",
      [result("x", "soon"), model(call("a", {}, "x"))],
      ["1:soon"],
      ["early-result"],
    ],
    [
      "matches results without ids by position and name",
      [model(call("a"), call("b")), result("", "B", "b"), result("", "A", "a")],
      ["2:B", "1:A"],
      ["reused-id"],
    ],
    [
      "gives a re-keyed result to the open call before it",
      [model(call("a", {}, "x")), result("other", "mine")],
      ["1:mine"],
      ["rekeyed-result"],
    ],
    ["keeps a result without a call under an id of its own", [user("hi"), result("ghost", "boo")], ["1:boo"], []],
    [
      "keeps one of two equal results, also when the id is used again later",
      [model(call("a", {}, "x")), result("x", "ok"), result("x", "ok"), model(call("a", {}, "x")), result("x", "new")],
      ["1:ok", "2:new"],
      ["duplicate-result", "reused-id"],
    ],
    [
      "finds a late result's call",
      [model(call("a", {}, "x")), user("and?"), model(text("…")), result("x", "late")],
      ["1:late"],
      [],
    ],
  ])("%s", (_name, events, completions, notes) => {
    const { entries, notes: made } = importHistory(events);
    expect(given(entries)).toEqual(completions);
    expect(made.map(({ kind }) => kind)).toEqual(notes);
  });

  it("takes time that grows with the history, not with its square", () => {
    const events = Array.from({ length: 40_000 }, (_, index) => [
      model(call("a", {}, `id${index % 7}`)),
      result(`id${index % 7}`, "ok"),
    ]).flat();
    expect(importHistory(events).entries).toHaveLength(80_000);
  });
});
