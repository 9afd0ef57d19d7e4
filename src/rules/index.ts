export { lint, rulesOf } from "./lint.ts";
export type { Finding, Report, Rule, RuleTarget, RuleWire } from "./rule.ts";
