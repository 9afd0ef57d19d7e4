import { describe, expect, it } from "vitest";
import { anthropicCases } from "./anthropic/rules.cases.ts";
import { bedrockCases } from "./bedrock/rules.cases.ts";
import { geminiCases } from "./gemini/rules.cases.ts";
import { lint, rulesOf } from "./lint.ts";
import { openaiChatCases } from "./openai-chat/rules.cases.ts";
import { openaiResponsesCases } from "./openai-responses/rules.cases.ts";
import type { RuleTarget, RuleWire } from "./rule.ts";
import { isObject } from "./walk.ts";
import { fc, runsPerTier } from "../../test/support/fast-check.ts";

const providers: Readonly<Record<RuleWire, readonly string[]>> = {
  gemini: ["google", "vertex", "code-assist"],
  anthropic: ["anthropic"],
  bedrock: ["bedrock"],
  "openai-chat": [
    ..."openai-chat azure xai groq openrouter kimi mistral deepseek qwen zai minimax cohere local offline".split(" "),
    "__proto__",
  ],
  "openai-responses": ["openai", "azure", "xai", "openrouter", "deepseek", "constructor"],
};
const wires = Object.keys(providers) as readonly RuleWire[];
const targets: readonly RuleTarget[] = wires.flatMap((wire) => [
  { wire },
  ...providers[wire].map((provider) => ({ wire, provider })),
]);
const cases = [...geminiCases, ...anthropicCases, ...bedrockCases, ...openaiChatCases, ...openaiResponsesCases];
/** Bodies small enough to be changed thousands of times. */
const bodies = cases.flatMap(({ breaks, passes, target }) =>
  [breaks, passes].filter((body) => JSON.stringify(body).length < 20_000).map((body) => ({ body, target })),
);

describe("lint", () => {
  it("reports the problem, its pointer, and what the API does", () => {
    expect(lint({ messages: [] }, { wire: "openai-chat" })).toEqual([
      {
        pointer: "/messages",
        rule: "openai-chat/no-messages",
        message:
          "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
        level: "error",
        effect: "rejected",
      },
    ]);
  });

  it("uses the model in the body when the target has none", () => {
    const body = { model: "o1-mini", messages: [{ role: "system", content: "x" }] };

    expect(lint(body, { wire: "openai-chat" }).map(({ rule }) => rule)).toEqual(["openai-chat/unsupported-role"]);
    expect(lint(body, { wire: "openai-chat", model: "gpt-5.4" })).toEqual([]);
  });

  it("treats an unknown provider like a local server", () => {
    const body = { model: "m", messages: [{ role: "user", content: "x" }], tools: [], temperature: 9 };

    expect(lint(body, { wire: "openai-chat", provider: "toString" }).filter(({ level }) => level === "error")).toEqual(
      [],
    );
  });

  it.each(wires)("has only rules with the prefix %s", (wire) => {
    const ids = rulesOf(wire).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(20);
    expect(ids.filter((id) => !/^[a-z-]+\/[a-z0-9-]+$/.test(id) || !id.startsWith(`${wire}/`))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(targets.map((target) => [`${target.wire} at ${target.provider ?? "its vendor"}`, target] as const))(
    "never throws for any JSON sent to %s",
    (_name, target) => {
      fc.assert(
        fc.property(fc.jsonValue(), (body) => isSound(lint(body, target))),
        { numRuns: runsPerTier(60) },
      );
    },
  );

  it("never throws on a body with one value changed", () => {
    const change = fc.record({
      which: fc.nat(bodies.length - 1),
      steps: fc.array(fc.nat(6), { maxLength: 7 }),
      value: fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.constantFrom("", "text", "function", "user", "tool", [], {}, null, -1),
      ),
    });
    fc.assert(
      fc.property(change, ({ which, steps, value }) => {
        const { body, target } = bodies[which] ?? { body: {}, target: { wire: "gemini" } };
        const changed = replaced(body, steps, value);
        return wires.every((wire) => isSound(lint(changed, { ...target, wire })));
      }),
      { numRuns: runsPerTier(1500) },
    );
  });

  it.each(wires)("refuses a body nested too deeply for any server, at %s", (wire) => {
    const deep = { messages: [nested(50_000)], contents: [nested(50_000)] };

    expect(lint(deep, { wire }).map(({ pointer, rule }) => [pointer, rule])).toEqual([["", `${wire}/shape`]]);
  });

  it("never throws on a value at the maximum depth", () => {
    for (const { body, target } of bodies.filter((_, index) => index % 40 === 0)) {
      for (const at of [[], [0], [1], [1, 0], [1, 1], [1, 1, 1], [2, 0, 1]])
        lint(replaced(body, at, nested(480)), target);
    }
  });
});

/** Pointers of findings are empty or begin with a slash, and every finding has a message. */
const isSound = (findings: ReturnType<typeof lint>): boolean =>
  findings.every(({ pointer, message }) => (pointer === "" || pointer.startsWith("/")) && message !== "");

/** Replaces the value at the end of the steps; a step is the index of a child, modulo the number of children. */
const replaced = (body: unknown, steps: readonly number[], value: unknown): unknown => {
  const [step, ...rest] = steps;
  if (step === undefined) return value;
  if (Array.isArray(body) && body.length > 0)
    return body.with(step % body.length, replaced(body[step % body.length], rest, value));
  if (!isObject(body) || Object.keys(body).length === 0) return value;
  const key = Object.keys(body)[step % Object.keys(body).length] ?? "";
  return { ...body, [key]: replaced(body[key], rest, value) };
};

const nested = (levels: number): unknown => {
  const keys = ["content", "properties", "items", "anyOf", "parts", "text"];
  let value: unknown = "x";
  for (let level = 0; level < levels; level += 1)
    value = level % 2 === 0 ? [value] : { type: "object", [keys[level % keys.length] ?? "a"]: value };
  return value;
};
