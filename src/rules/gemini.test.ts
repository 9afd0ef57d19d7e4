import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { geminiCases } from "./gemini.cases.ts";
import { geminiRules } from "./gemini.ts";
import { lint } from "./lint.ts";
import type { Finding } from "./rule.ts";

const ids = (findings: readonly Finding[], level: Finding["level"]): readonly string[] => [
  ...new Set(findings.filter((finding) => finding.level === level).map(({ rule }) => rule)),
];

describe("gemini rules", () => {
  it.each(geminiCases)("$rule: $name", ({ rule, target, breaks, passes, pointer }) => {
    const level = geminiRules.find(({ id }) => id === rule)?.level ?? "error";
    const found = lint(breaks, target);
    const passed = lint(passes, target);

    expect(found.filter((finding) => finding.rule === rule).map((finding) => finding.pointer)).toContain(pointer);
    expect(ids(found, "error")).toEqual(level === "error" ? [rule] : []);
    if (level === "advice") expect(ids(found, "advice")).toEqual([rule]);
    expect(ids(passed, "error")).toEqual([]);
    expect(ids(passed, "advice")).not.toContain(rule);
  });

  it("has a case for every rule", () => {
    const covered = new Set(geminiCases.map(({ rule }) => rule));

    expect(geminiRules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });

  it("never throws, whatever the body", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (inner, other) => {
        lint(inner, { wire: "gemini" });
        lint(
          { contents: inner, tools: other, generationConfig: inner, toolConfig: other, systemInstruction: inner },
          { wire: "gemini" },
        );
        lint(
          {
            contents: [
              { role: "user", parts: inner },
              { role: "model", parts: [inner, { functionCall: other }] },
              { role: inner, parts: [{ functionResponse: { parts: other } }] },
            ],
          },
          { wire: "gemini" },
        );
        lint(
          {
            request: inner,
            tools: [
              {
                functionDeclarations: [
                  inner,
                  { name: "a", parameters: other },
                  { name: "b", parametersJsonSchema: other },
                ],
              },
            ],
          },
          { wire: "gemini", provider: "code-assist" },
        );
      }),
    );
  });
});
