import { describe, expect, it } from "vitest";
import { renderRequest } from "../../src/api/index.ts";
import { text } from "../../src/conversation/builders.ts";
import type { JsonObject, JsonValue } from "../../src/conversation/json.ts";
import { lint } from "../../src/rules/lint.ts";
import { findProvider } from "../../src/providers/find.ts";
import type { Script } from "../../src/sim/model/script.ts";
import type { RequestSettings } from "../../src/wire/wire.ts";
import { openAgentStage, playTurn } from "../support/agent-stage.ts";

const script: Script = {
  rules: [
    {
      replies: [
        {
          parts: [
            { type: "think", text: "**Reading the question**\n\nIt is about the sum." },
            { type: "say", text: "Three." },
          ],
        },
      ],
    },
  ],
};

const thoughtsOf = async (provider: string, settings: RequestSettings): Promise<readonly unknown[]> => {
  const stage = await openAgentStage({ providers: [provider], script, agent: { settings } });
  const events = [...(await playTurn(stage, "1 + 2?")), ...(await playTurn(stage, "And 2 + 1?"))];
  expect(events.filter(({ type }) => type === "finished")).toHaveLength(2);
  expect(stage.simulators[provider]?.log.filter(({ verdict }) => verdict === "refused")).toEqual([]);
  return events.filter((event) => event.type === "thought");
};

describe("a model's thoughts", () => {
  it.each(["google", "vertex", "code-assist", "anthropic", "bedrock", "openai", "azure"])(
    "are shown with their subject if they are requested: %s",
    async (provider) => {
      const thoughts = await thoughtsOf(provider, { thoughts: true });
      expect(thoughts).toContainEqual(expect.objectContaining({ subject: "Reading the question" }));
    },
  );

  it.each(["google", "anthropic", "openai"])("are not shown unless they are requested: %s", async (provider) => {
    expect(await thoughtsOf(provider, {})).toEqual([]);
  });
});

describe("a request for thoughts", () => {
  const bodyFor = (to: string, settings: RequestSettings = {}): Record<string, JsonValue | undefined> => {
    const conversation = { version: 1, entries: [{ type: "user", parts: [text("Hello")] }], blobs: {} } as const;
    const { body } = renderRequest(conversation, to, { settings: { thoughts: true, ...settings } });
    const [provider = "", model = ""] = to.split("/");
    expect(
      lint(body, { wire: findProvider(provider).wire, provider, model }).filter(({ level }) => level === "error"),
    ).toEqual([]);
    const config = (((body["request"] ?? body) as JsonObject)["generationConfig"] ?? {}) as JsonObject;
    const { thinking, output_config, reasoning, additionalModelRequestFields } = body;
    return JSON.parse(
      JSON.stringify({
        config: config["thinkingConfig"],
        thinking,
        output_config,
        reasoning,
        additional: additionalModelRequestFields,
      }),
    ) as Record<string, JsonValue>;
  };

  it.each([
    ["google/gemini-3.8-flash", {}, { config: { includeThoughts: true } }],
    ["google/gemini-flash-latest", {}, { config: { includeThoughts: true } }],
    ["google/gemini-2.5-flash", {}, { config: { includeThoughts: true } }],
    [
      "google/gemini-2.5-pro",
      { thinking: { effort: "high" } },
      { config: { thinkingBudget: 24_576, includeThoughts: true } },
    ],
    ["google/gemini-3.8-flash", { thoughts: false }, { config: { includeThoughts: false } }],
    ["google/gemini-2.5-flash", { thinking: { effort: "none" } }, { config: { thinkingBudget: 0 } }],
    ["google/gemini-2.5-flash-lite", {}, {}],
    [
      "google/gemini-2.5-flash-lite",
      { thinking: { effort: "low" } },
      { config: { thinkingBudget: 1024, includeThoughts: true } },
    ],
    ["vertex/gemini-2.0-flash", {}, {}],
    ["google/gemini-2.5-flash-image", {}, {}],
    ["google/gemma-4-31b-it", {}, {}],
    ["anthropic/claude-sonnet-5", {}, { thinking: { type: "adaptive", display: "summarized" } }],
    [
      "anthropic/claude-opus-4-7",
      { thinking: { effort: "low" } },
      { thinking: { type: "adaptive", display: "summarized" }, output_config: { effort: "low" } },
    ],
    ["anthropic/claude-opus-4-7", {}, {}],
    ["anthropic/claude-sonnet-5", { thinking: { effort: "none" } }, { thinking: { type: "disabled" } }],
    ["anthropic/claude-haiku-4-5", {}, {}],
    [
      "bedrock/us.anthropic.claude-sonnet-5",
      {},
      { additional: { thinking: { type: "adaptive", display: "summarized" } } },
    ],
    ["bedrock/amazon.nova-pro-v1:0", {}, {}],
    ["openai/gpt-5.6", {}, { reasoning: { summary: "auto" } }],
    ["openai/gpt-5.6", { thinking: { effort: "high" } }, { reasoning: { effort: "high", summary: "auto" } }],
    ["openai/gpt-5.6", { thinking: { effort: "none" } }, { reasoning: { effort: "none" } }],
    ["openai/gpt-4o", {}, {}],
    ["openai/gpt-5-chat-latest", {}, {}],
    ["xai/grok-4.5", {}, {}],
  ] satisfies readonly (readonly [string, RequestSettings, object])[])(
    "has the fields of %s, with %j",
    (to, settings, body) => {
      expect(bodyFor(to, settings)).toEqual(body);
    },
  );
});
