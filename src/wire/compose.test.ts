import { describe, expect, it } from "vitest";
import { call, done, text } from "../conversation/builders.ts";
import type { JsonObject } from "../conversation/json.ts";
import { Ledger, type NewPart } from "../conversation/ledger.ts";
import type { UserPart } from "../conversation/parts.ts";
import { destinationOf, findProvider } from "../providers/find.ts";
import { RequestComposer } from "./compose.ts";

const composerFor = (to: string, ledger: Ledger, tools: readonly { readonly name: string }[] = []): RequestComposer => {
  const composer = new RequestComposer({ destination: destinationOf(to), system: "Be brief.", tools, blobs: {} });
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

  it("calls an argument by one name in the declaration, in past calls and in the note, and takes the answer back", () => {
    const parameters = { type: "object", properties: { "team:": { type: "string" } } } as const;
    const tool = { name: "ask", description: "Asks.", parameters };
    for (const [to, isRenamed] of [
      ["anthropic", true],
      ["bedrock", true],
      ["bedrock/us.amazon.nova-2-lite-v1:0", false],
      ["openai", false],
    ] as const) {
      const composer = composerFor(to, asked("x", "y", call("ask", { "team:": "blue" })), [tool]);
      const { body, report } = composer.compose();
      const sent = JSON.stringify(body);
      expect([sent.includes("team:"), sent.includes('"team_"')], to).toEqual([!isRenamed, isRenamed]);
      expect(report.notes.map(({ kind }) => kind).includes("key-renamed"), to).toBe(isRenamed);
      const made = { text: '{"team_": "red", "n": 1}' };
      expect(composer.originalInput("ask", made), to).toEqual(isRenamed ? { text: '{"team:":"red","n":1}' } : made);
      expect(composer.originalInput("other", made), to).toBe(made);
    }
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
    expect(count(composerFor("openai/gpt-5.6", ledger).body(), '"encrypted_content":"sealed"')).toBe(1);
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

describe("messages of one side in a row", () => {
  const ledger = asked("x", "y", call("a"));
  ledger.user([text("and?")]);
  ledger.notice("It is Monday.");
  const words = (content: unknown): unknown =>
    Array.isArray(content) ? content.map((block: JsonObject) => block["text"] ?? Object.keys(block)[0]) : content;
  const shown = (composer: RequestComposer): unknown =>
    (composer.body()["messages"] as readonly JsonObject[]).map(({ role, content }) => [role, words(content)]);

  it.each(["bedrock", "bedrock/us.amazon.nova-2-lite-v1:0"])("are one message to %s", (to) => {
    expect(shown(composerFor(to, ledger))).toEqual([
      ["user", ["go"]],
      ["assistant", ["toolUse"]],
      ["user", ["toolResult", "and?", "[Notice] It is Monday."]],
    ]);
  });

  it("are one message to models that want results alone, after a word of the model", () => {
    expect(shown(composerFor("bedrock/meta.llama3-3-70b-instruct-v1:0", ledger))).toEqual([
      ["user", ["go"]],
      ["assistant", ["toolUse"]],
      ["user", ["toolResult"]],
      ["assistant", ["."]],
      ["user", ["and?", "[Notice] It is Monday."]],
    ]);
  });

  it("grow by blocks: what went out stays in front, and the digest is of what was said", () => {
    const composer = composerFor("bedrock", asked("x", "y", call("a")));
    const sent = JSON.stringify(composer.body()["messages"]).slice(0, -"]}]".length);
    const digest = composer.digest();
    composer.add([{ type: "user", parts: [text("and?")] }]);
    const grown = composer.body()["messages"];
    expect(JSON.stringify(grown).startsWith(sent)).toBe(true);
    expect(grown).toHaveLength(3);
    expect(composer.digest()).not.toBe(digest);
  });

  it("are merged for an endpoint that was found to refuse them", () => {
    const to = (provider: string, model: string): unknown => {
      const destination = findProvider(provider).destination(model, undefined, ["alternate-roles"]);
      const composer = new RequestComposer({ destination, blobs: {} });
      composer.add([
        { type: "notice", text: "It is Monday." },
        { type: "user", parts: [text("go")] },
      ]);
      return composer.body()[destination.wire.id === "openai-responses" ? "input" : "messages"];
    };
    const texts = (type: string): unknown => ["[Notice] It is Monday.", "go"].map((line) => ({ type, text: line }));
    expect(to("local", "qwen3")).toEqual([{ role: "user", content: texts("text") }]);
    expect(to("kimi", "moonshot-v1-8k")).toEqual([{ role: "user", content: "[Notice] It is Monday.\n\ngo" }]);
    expect(to("anthropic", "claude-sonnet-5")).toEqual([{ role: "user", content: texts("text") }]);
    expect(to("openai", "gpt-5")).toEqual([{ role: "user", content: texts("input_text") }]);
  });

  it("are parted by a word of the model where one message could not hold all their files", () => {
    const film = (id: string): UserPart => ({
      type: "media",
      kind: "video",
      mimeType: "video/mp4",
      id,
      source: { type: "uri", uri: `s3://bucket/${id}` },
    });
    const destination = destinationOf("bedrock/us.amazon.nova-pro-v1:0");
    const composer = new RequestComposer({ destination, blobs: {} });
    composer.add(["a", "b"].map((id) => ({ type: "user", parts: [text(id), film(id)] })));
    expect(shown(composer)).toEqual([
      ["user", ["a", "video"]],
      ["assistant", ["."]],
      ["user", ["b", "video"]],
    ]);
  });
});
