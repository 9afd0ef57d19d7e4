import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bedrockCases } from "./bedrock.cases.ts";
import { bedrockRules } from "./bedrock.ts";
import { lint } from "./lint.ts";
import type { Finding } from "./rule.ts";

const ids = (findings: readonly Finding[], level: Finding["level"]): readonly string[] => [
  ...new Set(findings.filter((finding) => finding.level === level).map(({ rule }) => rule)),
];

describe("bedrock rules", () => {
  it.each(bedrockCases)("$rule: $name", ({ rule, target, breaks, passes, pointer }) => {
    const level = bedrockRules.find(({ id }) => id === rule)?.level ?? "error";
    const found = lint(breaks, target);
    const passed = lint(passes, target);

    expect(found.filter((finding) => finding.rule === rule).map((finding) => finding.pointer)).toContain(pointer);
    expect(ids(found, "error")).toEqual(level === "error" ? [rule] : []);
    if (level === "advice") expect(ids(found, "advice")).toEqual([rule]);
    expect(ids(passed, "error")).toEqual([]);
    expect(ids(passed, "advice")).not.toContain(rule);
  });

  it("has a case for every rule", () => {
    const covered = new Set(bedrockCases.map(({ rule }) => rule));

    expect(bedrockRules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });

  it("never throws, whatever the body", () => {
    const target = { wire: "bedrock", model: "anthropic.claude-sonnet-4-5" } as const;
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (one, other) => {
        lint(one, target);
        lint(
          { messages: one, system: other, toolConfig: one, inferenceConfig: other, additionalModelRequestFields: one },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: one },
              { role: one, content: [other, { toolUse: one }] },
            ],
          },
          target,
        );
        lint(
          {
            messages: [
              { role: "user", content: [{ toolResult: { content: [one, { document: other }] } }, { image: one }] },
            ],
          },
          target,
        );
        lint(
          {
            toolConfig: {
              tools: [one, { toolSpec: other }, { toolSpec: { inputSchema: { json: one } } }],
              toolChoice: other,
            },
          },
          target,
        );
      }),
    );
  });
});
