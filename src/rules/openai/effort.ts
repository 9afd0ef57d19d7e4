import { modelOf } from "./models.ts";
import type { Rule, RuleTarget } from "../rule.ts";
import { asArray, asObject, isObject, rejectedRule, type Check } from "../walk.ts";

/** OpenAI models that take function tools in Chat Completions only while they do not reason. Reported for GPT-5.4 and later. */
const reasonsWithoutTools = /^gpt-(5\.([4-9]|\d\d)|[6-9])/;

/** The ones among them that reason unless told otherwise; GPT-5.4 does not. */
const reasonsByDefault = /^gpt-(5\.([5-9]|\d\d)|[6-9])/;

/** Function tools beside reasoning, which OpenAI offers only in Responses. */
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

/** Settings that Chat Completions and Responses both refuse on the same models, each under its own name. */
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

/** Grok models that reason, or do not, and refuse to be told how much. */
const ignoresEffort =
  /^grok-(2|3(?!-mini)|4$|4-(0709|latest|fast|1-fast)|4\.20-\d{4}-(non-)?reasoning|4\.20-(non-)?reasoning|code-fast|build|composer)/;

/** What Chat Completions refuses about how hard a model is to think. */
export const chatEffortRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-chat/effort-with-tools", effortWithTools),
  rejectedRule("openai-chat/unsupported-effort", unsupportedEffort("reasoning_effort")),
];

/** What Responses refuses about how hard a model is to think. */
export const responsesEffortRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/unsupported-effort", unsupportedEffort("reasoning.effort")),
];
