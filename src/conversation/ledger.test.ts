import { describe, expect, it } from "vitest";
import { call, cancelled, done, failed, structured, text } from "./builders.ts";
import { cycleMarker } from "./json.ts";
import { Ledger } from "./ledger.ts";

const origin = { provider: "anthropic", model: "claude-sonnet-5" };

describe("Ledger", () => {
  it("numbers calls through the whole conversation, whatever the provider called them", () => {
    const ledger = new Ledger();
    ledger.model(origin, [call("read_file", {}, "toolu_x"), call("glob", {}, "toolu_x")]);
    const [third] = ledger.model(origin, [call("glob")]);

    expect(third).toEqual({ type: "call", id: "hist_tool_3", tool: "glob", input: { type: "parsed", value: {} } });
  });

  it("keeps the first completion of a call, ignores an equal one and keeps a different one beside it", () => {
    const ledger = new Ledger();
    const [made] = ledger.model(origin, [call("glob")]);
    ledger.complete(made!.id, "glob", done("a.ts"));
    ledger.complete(made!.id, "glob", done("a.ts"));
    ledger.complete(made!.id, "glob", failed("late"));
    ledger.complete(made!.id, "glob", failed("late"));

    expect(ledger.entries.filter((entry) => entry.type === "completion")).toHaveLength(2);
    expect(ledger.interaction(made!.id)?.outcome).toEqual(done("a.ts"));
    expect(ledger.notes.map(({ kind }) => kind)).toEqual(["duplicate-result", "duplicate-result"]);
  });

  it("goes on numbering where an earlier conversation stopped", () => {
    const first = new Ledger();
    first.model(origin, [call("glob")]);
    first.orphan("ghost", done("boo"));
    const second = Ledger.from(JSON.parse(JSON.stringify(first.entries)));

    expect(second.model(origin, [call("glob")])[0]?.id).toBe("hist_tool_3");
    expect(second.pending().map(({ id }) => id)).toEqual(["hist_tool_1", "hist_tool_3"]);
  });

  it("cuts arguments and results that point back at themselves", () => {
    const loop: Record<string, unknown> = { name: "a" };
    loop["self"] = loop;
    const ledger = new Ledger();
    const [made] = ledger.model(origin, [call("glob", loop)]);
    ledger.complete(made!.id, "glob", { status: "complete", content: [structured(loop as never)] });

    expect(made?.input).toEqual({ type: "parsed", value: { name: "a", self: cycleMarker } });
    expect(ledger.entries.at(-1)).toMatchObject({
      outcome: { content: [{ value: { name: "a", self: cycleMarker } }] },
    });
    expect(ledger.notes.map(({ kind }) => kind)).toEqual(["cyclic-value", "cyclic-value"]);
  });

  it.each([
    ['{"path":"a"}', { type: "parsed", value: { path: "a" }, text: '{"path":"a"}' }],
    ["", { type: "parsed", value: {} }],
    ["null", { type: "parsed", value: {} }],
    ['{"path":"un', { type: "malformed", text: '{"path":"un' }],
    ["[]", { type: "malformed", text: "[]" }],
    ['"word"', { type: "malformed", text: '"word"' }],
  ])("reads the arguments %s", (raw, input) => {
    const [made] = new Ledger().model(origin, [{ type: "call", tool: "glob", input: { text: raw } }]);
    expect(made?.input).toEqual(input);
  });

  it("lets no half character in", () => {
    const ledger = new Ledger();
    ledger.user([text("cut \ud83d")]);
    expect(ledger.entries).toEqual([{ type: "user", parts: [text("cut \ufffd")] }]);
  });

  it("survives JSON", () => {
    const ledger = new Ledger();
    ledger.user([text("hi")]);
    const [made] = ledger.model(origin, [
      { type: "thinking", text: "hm", seal: { signature: "s" } },
      call("glob", { n: 1n, at: new Date(0), none: undefined, not: Number.NaN }),
    ]);
    ledger.complete(made!.id, "glob", cancelled());
    ledger.compact("short", 1);

    expect(JSON.parse(JSON.stringify(ledger.entries))).toEqual(ledger.entries);
  });
});

describe("entries that a summary replaced", () => {
  it("leave no notice in front that was not the one the conversation opened with", () => {
    const ledger = new Ledger();
    ledger.user([{ type: "text", text: "one" }]);
    ledger.user([{ type: "text", text: "two" }]);
    ledger.notice("The person stopped the answer above.");
    ledger.compact("What was said.", 2);

    expect(ledger.release(0, 2)).toHaveLength(2);
    expect(ledger.dropped).toBe(1);
    expect(ledger.entries).toEqual([
      { type: "notice", text: "" },
      { type: "notice", text: "The person stopped the answer above." },
      { type: "compaction", summary: "What was said.", from: 1 },
    ]);
  });
});
