/**
 * Checks of request bodies against the requirements of each API.
 *
 * @packageDocumentation
 */
export { lint, rulesOf } from "../rules/lint.ts";
export type { Finding, ReportFinding, Rule, RuleTarget, RuleWire } from "../rules/rule.ts";
