import type { RuleTarget } from "./rule.ts";

/** A body that breaks exactly one rule, and one that just passes. */
export type RuleCase = {
  readonly rule: string;
  readonly name: string;
  readonly target: RuleTarget;
  readonly breaks: unknown;
  readonly passes: unknown;
  readonly pointer: string;
};
