import { isObject } from "../../conversation/json.ts";
import type { AlwaysAllow } from "../../policy/gate/create.ts";
import type { RuleScope } from "../../policy/gate/listed-rules.ts";
import type { ApprovalDecision } from "../events.ts";

/**
 * Parses an answer from a front end into a new object. The type says `ApprovalDecision`, but front ends are also
 * untyped scripts: anything that is not exactly one of the decisions is a refusal.
 */
export const readDecision = (answer: unknown): ApprovalDecision => {
  const { type, rule, scope, text, reason } = isObject(answer) ? answer : {};
  switch (type) {
    case "once":
    case "cancel":
      return { type };
    case "always":
      return isRule(rule) && isScope(scope) ? { type, rule, scope } : unknownDecision;
    case "edit":
      return typeof text === "string" ? { type, text } : unknownDecision;
    case "refuse":
      return typeof reason === "string" ? { type, reason } : { type };
    default:
      return unknownDecision;
  }
};

const unknownDecision: ApprovalDecision = {
  type: "refuse",
  reason: "the answer to its question was not a known decision, so it did not run.",
};

const rules: { readonly [rule in AlwaysAllow["type"]]: true } = {
  edits: true,
  tool: true,
  server: true,
  agent: true,
  command: true,
};

const isRule = (rule: unknown): rule is AlwaysAllow["type"] => typeof rule === "string" && Object.hasOwn(rules, rule);

const isScope = (scope: unknown): scope is RuleScope => scope === "session" || scope === "project";
