import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anthropicCases } from "./anthropic.cases.ts";
import { anthropicRules } from "./anthropic.ts";
import { lint } from "./lint.ts";
import type { Finding } from "./rule.ts";

const ids = (findings: readonly Finding[], level: Finding["level"]): readonly string[] => [
  ...new Set(findings.filter((finding) => finding.level === level).map(({ rule }) => rule)),
];

describe("anthropic rules", () => {
  it.each(anthropicCases)("$rule: $name", ({ rule, target, breaks, passes, pointer }) => {
    const level = anthropicRules.find(({ id }) => id === rule)?.level ?? "error";
    const found = lint(breaks, target);
    const passed = lint(passes, target);

    expect(found.filter((finding) => finding.rule === rule).map((finding) => finding.pointer)).toContain(pointer);
    expect(ids(found, "error")).toEqual(level === "error" ? [rule] : []);
    if (level === "advice") expect(ids(found, "advice")).toEqual([rule]);
    expect(ids(passed, "error")).toEqual([]);
    expect(ids(passed, "advice")).not.toContain(rule);
  });

  it("has a case for every rule", () => {
    const covered = new Set(anthropicCases.map(({ rule }) => rule));

    expect(anthropicRules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });

  it("never throws, whatever the body", () => {
    const target = { wire: "anthropic" } as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        lint(one, target);
        lint(
          { messages: one, system: other, tools: one, tool_choice: other, thinking: one, output_config: other },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: one },
              { role: one, content: [other, { type: "tool_use", input: one }] },
            ],
          },
          target,
        );
        lint(
          {
            messages: [
              {
                role: "user",
                content: [
                  { type: "tool_result", content: one },
                  { type: "image", source: other },
                ],
              },
            ],
          },
          target,
        );
        lint(
          { tools: [one, { name: "a", strict: true, input_schema: other }], cache_control: one, stop_sequences: other },
          target,
        );
      }),
    );
  });
});
