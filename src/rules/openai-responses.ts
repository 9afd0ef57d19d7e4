import { responsesEffortRules } from "./openai-effort.ts";
import { responsesFieldRules } from "./openai-responses-fields.ts";
import { responsesFormatRules } from "./openai-formats.ts";
import { responsesItemRules } from "./openai-responses-items.ts";
import { responsesMediaRules } from "./openai-responses-media.ts";
import { responsesModelRules } from "./openai-responses-models.ts";
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
  ...responsesFormatRules,
  ...responsesModelRules,
];
