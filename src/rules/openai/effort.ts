import { modelOf } from "./models.ts";
import type { Rule, RuleTarget } from "../rule.ts";
import { asArray, asObject, isObject, rejectedRule, type Check } from "../walk.ts";

/**
 * OpenAI models that accept function tools in Chat Completions only without reasoning. Reported for GPT-5.4 and later.
 */
const reasonsWithoutTools = /^gpt-(5\.([4-9]|\d\d)|[6-9])/;

/** Those of them that reason by default; GPT-5.4 does not. */
const reasonsByDefault = /^gpt-(5\.([5-9]|\d\d)|[6-9])/;

/** Reports function tools together with reasoning, which OpenAI offers only in Responses. */
const effortWithTools: Check = (body, report, target) => {
  const model = modelOf(target) ?? "";
  const isOpenai = target.provider === undefined || target.provider === "openai-chat";
  const { tools, reasoning_effort: effort } = asObject(body);
  if (!isOpenai || !reasonsWithoutTools.test(model) || !asArray(tools).some(isFunctionTool)) return;
  const byDefault = reasonsByDefault.test(model);
  const isSet = effort !== undefined && effort !== null;
  if (effort === "none" || (!isSet && !byDefault)) return;
  const advice = byDefault
    ? "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    : "Please use /v1/responses instead.";
  report(
    "/reasoning_effort",
    `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. ${advice}`,
  );
};

const isFunctionTool = (tool: unknown): boolean => isObject(tool) && tool["type"] === "function";

/**
 * Reports effort settings that Chat Completions and Responses both refuse on the same models, each under its own field
 * name.
 */
const unsupportedEffort =
  (field: "reasoning_effort" | "reasoning.effort"): Check =>
  (body, report, target) => {
    const request = asObject(body);
    const effort = request["reasoning_effort"] ?? asObject(request["reasoning"])["effort"];
    if (effort === undefined || effort === null) return;
    const refusal = effortRefusal(field, target);
    if (refusal !== undefined)
      report(request["reasoning_effort"] === effort ? "/reasoning_effort" : "/reasoning/effort", refusal);
  };

const effortRefusal = (field: string, target: RuleTarget): string | undefined => {
  if (target.provider === "xai" && ignoresEffort.test(target.model ?? ""))
    return `Model ${target.model} does not support parameter reasoningEffort.`;
  const isOpenai = target.provider === undefined || openaiHosts.has(target.provider);
  return isOpenai && modelOf(target)?.startsWith("gpt-5-chat") === true
    ? `Unsupported parameter: '${field}' is not supported with this model.`
    : undefined;
};

const openaiHosts: ReadonlySet<string> = new Set(["openai", "openai-chat", "azure"]);

/** Grok models with fixed reasoning, which refuse an effort. */
const ignoresEffort =
  /^grok-(2|3(?!-mini)|4$|4-(0709|latest|fast|1-fast)|4\.20-\d{4}-(non-)?reasoning|4\.20-(non-)?reasoning|code-fast|build|composer)/;

/** The effort rules of Chat Completions. */
export const chatEffortRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/effort-with-tools", effortWithTools),
  rejectedRule("openai-chat/unsupported-effort", unsupportedEffort("reasoning_effort")),
];

/** The effort rules of Responses. */
export const responsesEffortRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/unsupported-effort", unsupportedEffort("reasoning.effort")),
];
