import { expect, it } from "vitest";
import type { RuleCase } from "./rule.cases.ts";
import { lint, rulesOf } from "./lint.ts";
import type { Finding, RuleWire } from "./rule.ts";

/**
 * Registers the tests for a family of rules: each case breaks exactly its rule at its pointer, and the other body
 * passes; each rule has a case; rule ids are unique.
 */
export const testRules = (wire: RuleWire, cases: readonly RuleCase[]): void => {
  const rules = rulesOf(wire);

  it.each(cases.map((each) => [each.rule, each.target.provider ?? wire, each.name, each] as const))(
    "%s (%s): %s",
    (_rule, _provider, _name, { rule, target, breaks, passes, pointer }) => {
      const level = rules.find(({ id }) => id === rule)?.level ?? "error";
      const found = lint(breaks, target);
      const passed = lint(passes, target);

      expect(found.filter((finding) => finding.rule === rule).map((finding) => finding.pointer)).toContain(pointer);
      expect(ids(found, "error")).toEqual(level === "error" ? [rule] : []);
      if (level === "advice") expect(ids(found, "advice")).toEqual([rule]);
      expect(passed.filter((finding) => finding.level === "error" || finding.rule === rule)).toEqual([]);
    },
  );

  it("has a case for every rule", () => {
    const covered = new Set(cases.map(({ rule }) => rule));
    expect(rules.map(({ id }) => id).filter((id) => !covered.has(id))).toEqual([]);
  });

  it("names every rule once", () => {
    const names = rules.map(({ id }) => id);
    expect(new Set(names).size).toBe(names.length);
  });
};

/** The rules found at this level, each once. */
const ids = (findings: readonly Finding[], level: Finding["level"]): readonly string[] => [
  ...new Set(findings.filter((finding) => finding.level === level).map(({ rule }) => rule)),
];
