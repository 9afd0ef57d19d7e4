import { describe, expect, it } from "vitest";
import { call, done, Ledger, text, type JsonObject, type NewPart } from "../conversation/index.ts";
import { destinationOf } from "../providers/index.ts";
import { Composer } from "./compose.ts";

const composerFor = (to: string, ledger: Ledger, tools: readonly { readonly name: string }[] = []): Composer => {
  const composer = new Composer({ destination: destinationOf(to), system: "Be brief.", tools, blobs: {} });
  composer.add(ledger.entries);
  return composer;
};
const asked = (provider: string, model: string, ...parts: readonly NewPart[]): Ledger => {
  const ledger = new Ledger();
  ledger.user([text("go")]);
  for (const { id, tool } of ledger.model({ provider, model }, parts)) ledger.complete(id, tool, done("ok"));
  return ledger;
};
const count = (value: unknown, word: string): number => JSON.stringify(value).split(word).length - 1;

describe("Composer", () => {
  it("moves the cache marker to the newest message, and takes it away when none is wanted", () => {
    const composer = composerFor("anthropic/claude-sonnet-5", asked("x", "y", call("a")));
    const marks = { cache: { marks: true } };
    const unmarked = composer.digest();
    expect(count(composer.body(marks)["messages"], "cache_control")).toBe(1);
    expect(composer.digest()).toBe(unmarked);
    expect(count(composer.body(), "cache_control")).toBe(0);
    composer.body(marks);
    composer.add([
      { type: "model", origin: { provider: "x", model: "y" }, parts: [text("b")] },
      { type: "user", parts: [text("c")] },
    ]);
    const messages = composer.body(marks)["messages"] as readonly JsonObject[];
    expect(messages.map((message) => count(message, "cache_control"))).toEqual([0, 0, 0, 0, 1]);
  });

  it("gives the same body when it is asked twice", () => {
    const composer = composerFor("bedrock", asked("x", "y", call("a")));
    const once = JSON.stringify(composer.body({ cache: { marks: true } }));
    expect(JSON.stringify(composer.body({ cache: { marks: true } }))).toBe(once);
  });

  it("sends an item of reasoning once, however often it was recorded", () => {
    const thought: NewPart = { type: "thinking", text: "", seal: { item: "rs_1", encrypted: "sealed" } };
    const ledger = asked("openai", "gpt-5.6", thought, text("a"));
    ledger.user([text("more")]);
    ledger.model({ provider: "openai", model: "gpt-5.6" }, [thought, text("b")]);
    expect(count(composerFor("openai/gpt-5.6", ledger).body(), '"rs_1"')).toBe(1);
  });

  it("declares the tools of the past where an API wants them and there are no others, and lets none be called", () => {
    const { body, report } = composerFor("anthropic/claude-sonnet-5", asked("x", "y", call("gone"))).compose({
      toolChoice: "required",
    });
    expect(body["tools"]).toMatchObject([{ name: "gone" }]);
    expect(body["tool_choice"]).toEqual({ type: "none" });
    expect(report.notes.map(({ kind }) => kind)).toContain("tools-declared");
    expect(composerFor("openai-chat/gpt-5.6", asked("x", "y", call("gone"))).body()).not.toHaveProperty("tools");
  });

  it("calls a tool by its alias everywhere, demands only what is declared, and declares nothing twice", () => {
    const tools = [{ name: "a.b" }, { name: "a.b" }];
    const composer = composerFor("openai-chat/gpt-4o", asked("x", "y", call("a.b")), tools);
    const body = composer.body({ toolChoice: { tool: "a.b" } });
    const [{ function: declared }] = body["tools"] as unknown as [{ function: { name: string } }];
    expect(body["tools"]).toHaveLength(1);
    expect(body["tool_choice"]).toEqual({ type: "function", function: { name: declared.name } });
    expect(composer.originalTool(declared.name)).toBe("a.b");
    expect(composer.body({ toolChoice: { tool: "other" } })["tool_choice"]).toBe("auto");
  });
});
