import { responsesEffortRules } from "../openai/effort.ts";
import { responsesFieldRules } from "./fields.ts";
import { responsesFormatRules } from "../openai/formats.ts";
import { responsesItemRules } from "./items.ts";
import { responsesMediaRules } from "./media.ts";
import { responsesModelRules } from "./models.ts";
import { responsesShapeRules } from "./shape.ts";
import { responsesToolRules } from "./tools.ts";
import type { Rule } from "../rule.ts";

/** The rules of the Responses API, at OpenAI and at vendors with a compatible API. */
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
