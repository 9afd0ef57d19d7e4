import { afterEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/conversation/json.ts";
import { openGatewayStage, type GatewayStage, type GatewayStageOptions } from "./stage.ts";

let stage: GatewayStage;
afterEach(() => stage.close());

const open = async (options: GatewayStageOptions = {}): Promise<void> => {
  stage = await openGatewayStage(options);
};

const lastBodyAt = (provider: string): JsonObject =>
  stage.sims.simulators[provider]?.log.findLast(({ verdict }) => verdict === "accepted")?.body as JsonObject;

const post = async (path: string, body: object): Promise<{ status: number; headers: Headers; body: JsonObject }> => {
  const response = await stage.post(path, body);
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject };
};

type Item = { readonly type: string; readonly [field: string]: unknown };

const message = (role: string, text: string): Item => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
});

describe("/v1/responses/compact", () => {
  const history: readonly Item[] = [
    message("developer", "Be careful."),
    message("user", "First wish."),
    { type: "function_call", call_id: "call_1", name: "look", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "seen" },
    message("assistant", "Done."),
    message("user", "Second wish."),
  ];
  const tools = [{ type: "function", name: "look", parameters: { type: "object", properties: {} }, strict: false }];
  const summary = { sim: { script: { rules: [{ replies: [{ think: "Short.", say: "The goal was met." }] }] } } };

  it.each(["anthropic/claude-opus-5", "google/gemini-3.8-flash", "openai/gpt-5.6", "mistral/mistral-large-latest"])(
    "keeps the user's messages and a summary by %s, which it accepts as the next input",
    async (model) => {
      await open(summary);
      const compacted = await post("/v1/responses/compact", { model, input: history, tools, instructions: "Work." });
      expect(compacted).toMatchObject({
        status: 200,
        body: {
          object: "response.compaction",
          output: [
            message("user", "First wish."),
            message("user", "Second wish."),
            message("user", "Summary of the conversation before this point:\n\nThe goal was met."),
          ],
          usage: { input_tokens: expect.any(Number), output_tokens: expect.any(Number) },
        },
      });
      // The model that writes the summary saw all of it.
      for (const text of ["First wish.", "seen", "Done.", "Second wish."])
        expect(JSON.stringify(lastBodyAt(model.split("/")[0] ?? ""))).toContain(text);
      const { output } = compacted.body as { readonly output: readonly Item[] };
      const next = await post("/v1/responses", { model, input: [...output, message("user", "Go on.")], tools });
      expect(next).toMatchObject({ status: 200, body: { object: "response", status: "completed" } });
    },
  );

  it.each(["anthropic/claude-opus-5", "google/gemini-3.8-flash", "openai/gpt-5.6", "mistral/mistral-large-latest"])(
    "answers a compaction_trigger with one compaction item by %s, which every target reads",
    async (model) => {
      await open(summary);
      const response = await stage.post("/v1/responses", {
        model,
        input: [...history, { type: "compaction_trigger" }],
        tools,
        stream: true,
      });
      const events = (await response.text())
        .split("\n\n")
        .flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
        .map((data) => JSON.parse(data) as Item);
      const item = {
        id: expect.any(String),
        type: "compaction",
        encrypted_content: expect.stringMatching(/^parley1\//),
      };
      expect(events.map(({ type }) => type)).toEqual([
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.output_item.done",
        "response.completed",
      ]);
      expect(events[3]).toMatchObject({ output_index: 0, item });
      expect(events[4]).toMatchObject({ response: { status: "completed", output: [item] } });
      for (const text of ["First wish.", "seen", "Done.", "Second wish."])
        expect(JSON.stringify(lastBodyAt(model.split("/")[0] ?? ""))).toContain(text);
      for (const next of [model, "xai/grok-4.5"]) {
        const input = [message("user", "First wish."), events[3]?.["item"], message("user", "Go on.")];
        expect(await post("/v1/responses", { model: next, input, tools })).toMatchObject({ status: 200 });
        expect(JSON.stringify(lastBodyAt(next.split("/")[0] ?? ""))).toContain(
          "Summary of the conversation before this point:\\n\\nThe goal was met.",
        );
      }
    },
  );

  it("reports a refusal in OpenAI's words, and a summary without words as an error", async () => {
    await open({
      sim: { faults: [{ on: 1, fault: { type: "status", status: 429, headers: { "retry-after": "9" } } }] },
    });
    const limited = await post("/v1/responses/compact", { model: "anthropic/claude-opus-5", input: history });
    expect([limited.status, limited.headers.get("retry-after"), limited.body]).toEqual([
      429,
      "9",
      { error: expect.objectContaining({ code: "rate_limit_exceeded" }) },
    ]);
    await stage.close();
    await open({ sim: { script: { rules: [{ replies: [{ say: " " }] }] } } });
    // The target is at fault, not the gateway.
    expect(await post("/v1/responses/compact", { model: "openai/gpt-5.6", input: history })).toMatchObject({
      status: 502,
      body: { error: { type: "server_error", message: expect.stringContaining("wrote no summary") } },
    });
    expect(stage.sims.simulators["openai"]?.log.map(({ verdict }) => verdict)).toEqual(["accepted"]);
  });
});

describe("tools that only the Responses API has", () => {
  const patch = "*** Begin Patch\n*** Update File: a.txt\n+one\n*** End Patch\n";
  const tools = [
    {
      type: "custom",
      name: "apply_patch",
      description: "Changes files.",
      format: { type: "grammar", syntax: "lark", definition: 'start: "*** Begin Patch" LF' },
    },
    {
      type: "namespace",
      name: "files",
      description: "All about files.",
      tools: [{ type: "function", name: "list", parameters: { type: "object", properties: {} }, strict: false }],
    },
    { type: "web_search" },
  ];
  const script = {
    rules: [
      {
        replies: [
          {
            call: [
              { tool: "apply_patch", input: { input: patch } },
              { tool: "files__list", input: {} },
            ],
          },
          { say: "Patched." },
        ],
      },
    ],
  };

  it.each(["anthropic/claude-opus-5", "google/gemini-3.8-flash", "kimi/kimi-k3", "mistral/mistral-large-latest"])(
    "are functions at %s, and custom and namespaced calls again for the client, through a loop",
    async (model) => {
      await open({ sim: { script } });
      const ask = {
        model,
        tools,
        reasoning: { effort: "low", summary: "auto" },
        include: ["reasoning.encrypted_content"],
      };
      const input: Item[] = [message("user", "Patch it.")];
      const first = await post("/v1/responses", { ...ask, input });
      const { output } = first.body as { readonly output: readonly Item[] };
      const calls = output.filter(({ type }) => type.endsWith("_call"));
      expect([first.status, calls]).toEqual([
        200,
        [
          expect.objectContaining({ type: "custom_tool_call", name: "apply_patch", input: patch }),
          expect.objectContaining({ type: "function_call", name: "list", namespace: "files", arguments: "{}" }),
        ],
      ]);
      const provider = model.split("/")[0] ?? "";
      const declared = JSON.stringify(lastBodyAt(provider));
      expect(declared).toContain("*** Begin Patch");
      expect(declared).toContain("files__list");
      expect(declared).toContain("All about files.");
      input.push(
        ...output,
        { type: "custom_tool_call_output", call_id: calls[0]?.["call_id"], output: "patched a.txt" },
        { type: "function_call_output", call_id: calls[1]?.["call_id"], output: "a.txt" },
      );
      const second = await post("/v1/responses", { ...ask, input });
      expect([second.status, JSON.stringify(second.body["output"])]).toEqual([
        200,
        expect.stringContaining("Patched."),
      ]);
      for (const text of ["patched a.txt", JSON.stringify(patch).slice(1, -1)])
        expect(JSON.stringify(lastBodyAt(provider)).replaceAll("\\\\", "\\")).toContain(text);
      expect(Number(second.headers.get("x-parley-notes"))).toBeGreaterThan(0);
    },
  );

  it("stream a custom call with its own events", async () => {
    await open({ sim: { script } });
    const body = { model: "anthropic/claude-opus-5", tools, stream: true, input: [message("user", "Patch it.")] };
    const text = await (await stage.post("/v1/responses", body)).text();
    const events = [...text.matchAll(/^data: (.*)$/gm)].map(([, json]) => JSON.parse(json ?? "") as JsonObject);
    const deltas = events.filter(({ type }) => type === "response.custom_tool_call_input.delta");
    expect(deltas.map(({ delta }) => (typeof delta === "string" ? delta : "")).join("")).toBe(patch);
    expect(events.find(({ type }) => type === "response.custom_tool_call_input.done")).toMatchObject({ input: patch });
  });
});

describe("server tools", () => {
  it("go to a target that has them, and are left out with a note elsewhere", async () => {
    await open();
    const ask = {
      max_tokens: 99,
      messages: [{ role: "user", content: "Search." }],
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "look", input_schema: { type: "object", properties: {} } },
      ],
    };
    expect((await post("/v1/messages", { ...ask, model: "anthropic/claude-opus-5" })).status).toBe(200);
    expect(JSON.stringify(lastBodyAt("anthropic"))).toContain("web_search_20250305");
    const other = await post("/v1/messages", { ...ask, model: "kimi/kimi-k3" });
    expect([other.status, Number(other.headers.get("x-parley-notes")) > 0]).toEqual([200, true]);
    expect(JSON.stringify(lastBodyAt("kimi"))).not.toContain("web_search");
    expect(JSON.stringify(lastBodyAt("kimi"))).toContain("look");
  });
});
