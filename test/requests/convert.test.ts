import { describe, expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { homeProviders, wireIds } from "../../src/providers/find.ts";
import { convertRequest } from "../../src/providers/request.ts";
import { lint } from "../../src/rules/lint.ts";
import { composeRequest } from "../../src/wire/compose.ts";
import { buildHistory, makeHistory } from "../support/histories.ts";
import { mutate } from "../support/mutate.ts";
import { Random } from "../support/random.ts";
import { perTier, seedFor } from "../support/tier.ts";

const count = perTier({ quick: 3, all: 200 });

const policy = { unsupportedMedia: "stub" } as const;

describe.each(wireIds.map((wire) => ({ wire })))("a spoiled $wire body", ({ wire }) => {
  it("becomes one every provider accepts", () => {
    const home = providers.find(({ id }) => id === homeProviders[wire])!;
    const first = seedFor(1);
    for (let seed = first; seed < first + count; seed++) {
      const random = new Random(seed);
      const { conversation } = buildHistory(makeHistory(seed));
      let body: unknown = composeRequest(conversation, home.destination(home.defaultModel), { policy }).body;
      for (let times = 1 + random.below(6); times > 0; times--) body = mutate(body, random);
      for (const { id, wire: target, defaultModel } of providers) {
        const { body: sent } = convertRequest(body, wire, `${id}/${defaultModel}`, { policy });
        const broken = lint(sent, { wire: target, provider: id, model: defaultModel }).filter(
          ({ level }) => level === "error",
        );
        expect(broken, `seed ${seed} for ${id}`).toEqual([]);
      }
    }
  });
});

it.each([
  null,
  1,
  "text",
  [],
  {},
  [1, 2],
  [[]],
  { messages: "none" },
  { messages: [null, 7, "x"] },
  { contents: {} },
  { input: 5 },
])("reads %j as any wire without throwing", (body) => {
  for (const wire of wireIds)
    for (const { id, wire: target, defaultModel } of providers) {
      const { body: sent } = convertRequest(body, wire, `${id}/${defaultModel}`, { policy });
      expect(
        lint(sent, { wire: target, provider: id, model: defaultModel }).filter(({ level }) => level === "error"),
      ).toEqual([]);
    }
});

describe("words a model said after a call", () => {
  const callFirst = [
    { role: "user", content: "What is in a.txt?" },
    { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" },
    { role: "assistant", content: "Let me look." },
    { type: "function_call_output", call_id: "call_1", output: "A cat." },
  ];
  const parts = [
    { role: "user", parts: [{ text: "What is in a.txt?" }] },
    { role: "model", parts: [{ functionCall: { name: "read", args: {} } }, { text: "Let me look." }] },
    { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "A cat." } } }] },
  ];

  it.each([
    ["openai-responses", { model: "gpt-5", input: callFirst }],
    ["gemini", { contents: parts }],
  ])("of %s stand before it in a request to Claude, with a note", (from, body) => {
    const { body: sent, report } = convertRequest(body, from, "anthropic/claude-haiku-4-5");
    const messages = sent["messages"] as readonly { readonly content: readonly { readonly type: string }[] }[];
    expect(messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ["text"],
      ["text", "tool_use"],
      ["tool_result"],
    ]);
    expect(report.notes.map(({ kind }) => kind)).toContain("text-before-calls");
  });
});

it("leaves out and notes what only older Gemini models take", () => {
  const body = {
    contents: [{ role: "user", parts: [{ text: "hi" }] }],
    generationConfig: { candidateCount: 1, seed: 7 },
  };
  const { body: sent, report } = convertRequest(body, "gemini", "google/gemini-3.8-flash");
  expect(lint(sent, { wire: "gemini", provider: "google", model: "gemini-3.8-flash" })).toEqual([]);
  expect(sent["generationConfig"]).toMatchObject({ seed: 7 });
  expect(report.notes.map(({ message }) => message)).toContain(
    "The field /generationConfig/candidateCount is not carried over.",
  );
  const { body: older } = convertRequest(body, "gemini", "google/gemini-2.5-flash");
  expect(older["generationConfig"]).toMatchObject({ candidateCount: 1 });
});
