export { lint, rulesOf } from "../rules/lint.ts";
export type { Finding, Report, Rule, RuleTarget, RuleWire } from "../rules/rule.ts";
