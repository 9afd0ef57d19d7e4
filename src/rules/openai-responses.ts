import { responsesEffortRules } from "./openai-effort.ts";
import { responsesFieldRules } from "./openai-responses-fields.ts";
import { responsesItemRules } from "./openai-responses-items.ts";
import { responsesMediaRules } from "./openai-responses-media.ts";
import { responsesShapeRules } from "./openai-responses-shape.ts";
import { responsesToolRules } from "./openai-responses-tools.ts";
import type { Rule } from "./rule.ts";

/** What the Responses API refuses, at OpenAI and at the vendors who copy it. */
export const openaiResponsesRules: readonly Rule<unknown>[] = [
  ...responsesShapeRules,
  ...responsesItemRules,
  ...responsesMediaRules,
  ...responsesToolRules,
  ...responsesFieldRules,
  ...responsesEffortRules,
];
