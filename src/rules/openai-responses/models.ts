import { modelOf } from "../openai/models.ts";
import { isOpenaiResponses } from "../openai/providers.ts";
import { toolsOf } from "./walk.ts";
import type { Rule } from "../rule.ts";
import { asArray, asObject, rejectedRule, type Check } from "../walk.ts";

/** Reports models that predate this API. */
const chatOnlyModel: Check = (body, report, target) => {
  const model = modelOf(target);
  if (!isOpenaiResponses(target) || !/^(o1-(mini|preview)|gpt-4o(-mini)?-audio|gpt-audio)/.test(model ?? "")) return;
  report("/model", `The requested model '${model ?? ""}' is not supported with the Responses API.`);
};

/** Deep research models do not call functions; the oldest models have no hosted tools. */
const toolModel: Check = (body, report, target) => {
  const model = modelOf(target) ?? "";
  if (!isOpenaiResponses(target)) return;
  const isResearcher = /deep-research/.test(model);
  for (const { type, at } of toolsOf(body)) {
    if (isResearcher && !researchTools.test(type ?? "")) {
      report(
        at,
        "Deep research models only support the 'web_search_preview', 'code_interpreter', 'mcp', and 'file_search' tools.",
      );
      return;
    }
    if (lacksHosted(model, type ?? "")) report(at, `Hosted tool '${type ?? ""}' is not supported with ${model}.`);
  }
  if (isResearcher && asArray(asObject(body)["tools"]).length === 0) {
    report("", "Deep research models require at least one of 'web_search_preview', 'mcp', or 'file_search' tools.");
  }
};

const researchTools = /^(web_search|code_interpreter|mcp|file_search)/;

const lacksHosted = (model: string, type: string): boolean =>
  (/^(gpt-4|gpt-3\.5-turbo)(-0|-1106|-32k|-16k|$)/.test(model) && /^(web_search|file_search|code_interp)/.test(type)) ||
  (model.startsWith("gpt-4.1-nano") && type.startsWith("web_search"));

/** Rules about features a model does not support. */
export const responsesModelRules: readonly Rule<unknown>[] = [
  rejectedRule("openai-responses/chat-only-model", chatOnlyModel),
  rejectedRule("openai-responses/tool-model", toolModel),
];
