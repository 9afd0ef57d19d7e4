import { describe, expect, it } from "vitest";
import { ask, createClient, ls, followUp } from "./client.cases.ts";
import type { Json } from "../family.ts";
import { asArray, asObject, asText } from "../json.ts";
import { makeSeal } from "../seal.ts";
import type { Script } from "../model/script.ts";

const script: Script = {
  rules: [
    {
      prompt: "look",
      replies: [
        { think: "I had better look around a little here.", call: { tool: "ls", input: {} } },
        { think: "Now I have seen it.", say: "Seen." },
      ],
    },
    {
      prompt: "secret",
      replies: [
        {
          parts: [
            { type: "think", text: "Hidden.", redacted: true },
            { type: "say", text: "No." },
          ],
        },
      ],
    },
  ],
  otherwise: { say: "Good." },
};

const shown = (model: string): Json => ({ model, thinking: { type: "adaptive", display: "summarized" } });

/** Sends two requests to one server: the test changes the second one. */
const loop = async (model: string, change: (body: Json) => Json, headers: Record<string, string> = {}) => {
  const { send, simulator } = createClient({ script });
  const first = await send(ask("look", shown(model)));
  const content = asArray(first.body["content"]).map(asObject);
  const id = content.find(({ type }) => type === "tool_use")?.["id"];
  const next = followUp(ask("look", shown(model)), content, [
    { type: "tool_result", tool_use_id: id, content: "a.txt" },
  ]);
  const second = await send(change(next), headers);
  return { ...second, message: asText(asObject(second.body["error"])["message"]), log: simulator.log };
};

const same = (body: Json): Json => body;

/** The body with its thinking block replaced. */
const rethought =
  (block: (old: Json) => readonly Json[]) =>
  (body: Json): Json => ({
    ...body,
    messages: asArray(body["messages"]).map((message) => {
      const { role, content } = asObject(message);
      if (role !== "assistant") return message;
      return {
        role,
        content: asArray(content)
          .map(asObject)
          .flatMap((old) => (old["type"] === "thinking" ? block(old) : [old])),
      };
    }),
  });

const models = ["claude-opus-4-6", "claude-sonnet-5", "claude-fable-5-1", "claude-opus-5-5"];

describe("thinking that is sent back", () => {
  it.each(models)("is accepted unchanged: %s", async (model) => {
    expect((await loop(model, same)).status).toBe(200);
  });

  it.each(models)("is refused when its text or signature was changed: %s", async (model) => {
    const words = "messages.1.content.0: Invalid `signature` in `thinking` block";
    const otherText = await loop(
      model,
      rethought((old) => [{ ...old, thinking: "I looked." }]),
    );
    expect([otherText.status, otherText.message]).toEqual([400, words]);
    const forged = await loop(
      model,
      rethought((old) => [{ ...old, signature: "RXBBQkNpb0lCaGdDSWlR" }]),
    );
    expect([forged.status, forged.message]).toEqual([400, words]);
  });

  it.each(models)("is refused when another vendor issued it: %s", async (model) => {
    const signature = makeSeal({ provider: "bedrock", model, text: "Hm.", prefix: "" });
    const foreign = await loop(
      model,
      rethought(() => [{ type: "thinking", thinking: "Hm.", signature }]),
    );
    expect(foreign.status).toBe(400);
  });

  it.each(models)("may be left out of the history: %s", async (model) => {
    expect(
      (
        await loop(
          model,
          rethought(() => []),
        )
      ).status,
    ).toBe(200);
  });

  it("is accepted without its text, where the text was not returned", async () => {
    const { send } = createClient({ script });
    const first = await send(ask("look"));
    const content = asArray(first.body["content"]).map(asObject);
    expect(content[0]).toEqual({ type: "thinking", thinking: "", signature: expect.any(String) });
    const result = [{ type: "tool_result", tool_use_id: content[1]?.["id"], content: "a.txt" }];
    expect((await send(followUp(ask("look"), content, result))).status).toBe(200);
  });

  it("is accepted as a redacted block only when it was redacted", async () => {
    const { send } = createClient({ script });
    const asked = ask("a secret", shown("claude-opus-5-5"));
    const content = asArray((await send(asked)).body["content"]).map(asObject);
    expect(content).toEqual([
      { type: "redacted_thinking", data: expect.any(String) },
      { type: "text", text: "No." },
    ]);
    expect((await send(followUp(asked, content, "well"))).status).toBe(200);
    const forged = await send(followUp(asked, [{ type: "redacted_thinking", data: "AAAA" }, content[1]], "well"));
    expect(asObject(forged.body["error"])["message"]).toBe(
      "messages.1.content.0: Invalid `data` in `redacted_thinking` block",
    );
  });
});

describe("thinking after a changed history", () => {
  const changes: readonly (readonly [string, (body: Json) => Json])[] = [
    ["another system prompt", (body) => ({ ...body, system: "Be kind." })],
    ["another tool", (body) => ({ ...body, tools: [ls, { ...ls, name: "cat" }] })],
    [
      "another question",
      (body) => ({
        ...body,
        messages: [{ role: "user", content: "look there" }, ...asArray(body["messages"]).slice(1)],
      }),
    ],
    [
      "a message more before",
      (body) => ({ ...body, messages: [{ role: "user", content: "hello" }, ...asArray(body["messages"])] }),
    ],
  ];
  const words =
    'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

  it.each(changes)(
    "is refused by models that bind it to the history, and accepted by older ones: %s",
    async (_, change) => {
      const bound = await loop("claude-opus-5-5", change);
      expect([bound.status, bound.message.replace("messages.2.", "messages.1.")]).toEqual([400, words]);
      expect((await loop("claude-opus-4-6", change)).status).toBe(200);
    },
  );

  it.each([
    ["a moved cache mark", (body: Json) => ({ ...body, tools: [{ ...ls, cache_control: { type: "ephemeral" } }] })],
    ["another limit", (body: Json) => ({ ...body, max_tokens: 77 })],
    [
      "a question as a block",
      (body: Json) => ({
        ...body,
        messages: [{ role: "user", content: [{ type: "text", text: "look" }] }, ...asArray(body["messages"]).slice(1)],
      }),
    ],
    [
      "a tool that is only looked up",
      (body: Json) => ({ ...body, tools: [ls, { ...ls, name: "cat", defer_loading: true }] }),
    ],
  ])("is accepted when the history is unchanged: %s", async (_, change) => {
    expect((await loop("claude-opus-5-5", change)).status).toBe(200);
  });

  it("is dropped and not billed if the request asks for it, and the response says so", async () => {
    const change = (body: Json): Json => ({
      ...body,
      system: "Be kind.",
      thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
    });
    const beta = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
    const dropped = await loop("claude-opus-5-5", change, beta);
    const without = await loop("claude-opus-5-5", (body) => change(rethought(() => [])(body)), beta);
    expect(dropped.body["input_transformations"]).toEqual([
      { type: "thinking_block_dropped", path: "messages.1.content.0", reason: "prefix_mismatch" },
    ]);
    expect(usageIn(dropped)).toEqual(usageIn(without));
    expect(usageIn(await loop("claude-opus-5-5", same))).toBe(usageIn(without) - 2 + 10);
  });
});

const usageIn = ({ body }: { readonly body: Json }): number => Number(asObject(body["usage"])["input_tokens"]);

describe("several thinking blocks", () => {
  it("stay valid without the first one, where they are bound", async () => {
    const { send } = createClient({ script });
    const asked = ask("look");
    const first = asArray((await send(asked)).body["content"]).map(asObject);
    const result = [{ type: "tool_result", tool_use_id: first[1]?.["id"], content: "a.txt" }];
    const second = asArray((await send(followUp(asked, first, result))).body["content"]).map(asObject);
    expect([first, second].map((content) => content.map(({ type }) => type))).toEqual([
      ["thinking", "tool_use"],
      ["thinking", "text"],
    ]);
    expect((await send(followUp(followUp(asked, first, result), second, "and?"))).status).toBe(200);
    expect((await send(followUp(followUp(asked, first.slice(1), result), second, "and?"))).status).toBe(200);
    const edited = [{ ...result[0], content: "b.txt" }];
    expect((await send(followUp(followUp(asked, first, edited), second, "and?"))).status).toBe(400);
  });

  it("of a paused and continued response are valid in one message", async () => {
    const source = { title: "A page", uri: "https://example.com/" };
    const paused: Script = {
      rules: [
        {
          replies: [
            {
              parts: [
                { type: "think", text: "First." },
                { type: "cite", text: "One.", query: "q", sources: [source] },
              ],
              finish: "paused",
            },
            { think: "Then.", say: "Two." },
          ],
        },
      ],
    };
    const { send } = createClient({ script: paused });
    const asked = ask("go", { tools: [{ type: "web_search_20250305", name: "web_search" }] });
    const first = await send(asked);
    expect(first.body["stop_reason"]).toBe("pause_turn");
    const begun = asArray(first.body["content"]);
    const resumed = { ...asked, messages: [...asArray(asked["messages"]), { role: "assistant", content: begun }] };
    const second = await send(resumed);
    expect(second.body["stop_reason"]).toBe("end_turn");
    const all = [...begun, ...asArray(second.body["content"])];
    expect((await send(followUp(asked, all, "and?"))).status).toBe(200);
  });
});

describe("thinking of another Claude model", () => {
  const switched = async (from: string, to: string): Promise<{ readonly status: number; readonly more: number }> => {
    const { send } = createClient({ script });
    const first = await send(ask("look", shown(from)));
    const content = asArray(first.body["content"]).map(asObject);
    const id = content.find(({ type }) => type === "tool_use")?.["id"];
    const result = [{ type: "tool_result", tool_use_id: id, content: "a.txt" }];
    const kept = await send(followUp(ask("look", shown(to)), content, result));
    const left = await send(followUp(ask("look", shown(to)), content.slice(1), result));
    return { status: kept.status, more: usageIn(kept) - usageIn(left) };
  };

  it("is silently ignored and not billed by models that bind thinking", async () => {
    expect(await switched("claude-sonnet-5", "claude-opus-5-5")).toEqual({ status: 200, more: 0 });
  });

  it("is read by older models", async () => {
    expect(await switched("claude-sonnet-4-6", "claude-opus-4-6")).toEqual({ status: 200, more: 10 });
  });
});

describe("thinking", () => {
  const thinks = async (more: Json, asked = "look"): Promise<boolean> => {
    const { body } = await createClient({ script }).send(ask(asked, more));
    return asArray(body["content"]).some((block) => asObject(block)["type"] === "thinking");
  };

  it.each([
    [{ model: "claude-sonnet-4-6" }, false],
    [{ model: "claude-sonnet-4-6", thinking: { type: "adaptive" } }, true],
    [{ model: "claude-sonnet-4-5", thinking: { type: "enabled", budget_tokens: 2000 } }, true],
    [{ model: "claude-sonnet-5" }, true],
    [{ model: "claude-sonnet-5", thinking: { type: "disabled" } }, false],
    [{ model: "claude-opus-5-5", thinking: { type: "between_tools" } }, false],
    [{ model: "claude-fable-5-2" }, true],
  ])("happens only if the request or the model enables it: %j", async (more, expected) => {
    expect(await thinks(more)).toBe(expected);
  });

  it("of earlier turns is dropped by older models, and not billed there", async () => {
    const cost = async (model: string, thinking: Json): Promise<number> => {
      const { send } = createClient({ script });
      const asked = ask("look", { model, thinking });
      const content = asArray((await send(asked)).body["content"]).map(asObject);
      const result = [
        { type: "tool_result", tool_use_id: content[1]?.["id"], content: "a.txt" },
        { type: "text", text: "so" },
      ];
      const plain = followUp(asked, content, result);
      return usageIn(await send(plain)) - usageIn(await send(rethought(() => [])(plain)));
    };
    expect(await cost("claude-sonnet-4-5", { type: "enabled", budget_tokens: 1024 })).toBe(0);
    expect(await cost("claude-opus-4-6", { type: "adaptive" })).toBe(10);
  });
});
