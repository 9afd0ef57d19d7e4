import { anthropicRules } from "./anthropic/rules.ts";
import { bedrockRules } from "./bedrock/rules.ts";
import { geminiRules } from "./gemini/rules.ts";
import { openaiChatRules } from "./openai-chat/rules.ts";
import { openaiResponsesRules } from "./openai-responses/rules.ts";
import type { Finding, Rule, RuleTarget, RuleWire } from "./rule.ts";
import { asObject, asString, isObject } from "./walk.ts";

/**
 * Checks a request body against the rules of the target's API: returns everything it would refuse, silently lose or
 * merely tolerate, rule by rule, each in body order. Takes any JSON value and never throws. A target without a model is
 * read for the model the body names.
 */
export const lint = (body: unknown, target: RuleTarget): readonly Finding[] => {
  if (isTooDeep(body)) return [tooDeep(target.wire)];
  const model = target.model ?? asString(asObject(body)["model"]);
  const aim: RuleTarget = model === undefined ? target : { ...target, model };
  const own = copyBody(body);
  return rulesOf(target.wire).flatMap((rule) => findingsOf(rule, own, aim));
};

/** Copies the body's top level, so that memoized walks belong to this run. */
const copyBody = (body: unknown): unknown => (Array.isArray(body) ? [...body] : isObject(body) ? { ...body } : body);

/** The rules of one API family. */
export const rulesOf = (wire: RuleWire): readonly Rule<unknown>[] => {
  switch (wire) {
    case "gemini":
      return geminiRules;
    case "anthropic":
      return anthropicRules;
    case "bedrock":
      return bedrockRules;
    case "openai-chat":
      return openaiChatRules;
    case "openai-responses":
      return openaiResponsesRules;
  }
};

const findingsOf = (
  { id, level, effect, check }: Rule<unknown>,
  body: unknown,
  target: RuleTarget,
): readonly Finding[] => {
  const findings: Finding[] = [];
  check(body, (pointer, message) => findings.push({ pointer, rule: id, message, level, effect }), target);
  return findings;
};

/** Google reads 100 levels, servers in Rust 128, in Python about 1000; real requests are far below. */
const maxDepth = 500;

const isTooDeep = (body: unknown): boolean => {
  const tooDeep = (value: unknown, left: number): boolean => {
    if (typeof value !== "object" || value === null) return false;
    if (left === 0) return true;
    if (Array.isArray(value)) return value.some((item) => tooDeep(item, left - 1));
    for (const key in value) if (tooDeep((value as Record<string, unknown>)[key], left - 1)) return true;
    return false;
  };
  return tooDeep(body, maxDepth);
};

const tooDeep = (wire: RuleWire): Finding => ({
  pointer: "",
  rule: `${wire}/shape`,
  message: `The request body is nested more than ${maxDepth} levels deep.`,
  level: "error",
  effect: "rejected",
});
