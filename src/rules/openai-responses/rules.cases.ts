import type { RuleCase } from "../rule.cases.ts";
import { responsesEffortCases } from "../openai/effort.cases.ts";
import { responsesFieldCases } from "./fields.cases.ts";
import { responsesItemCases } from "./items.cases.ts";
import { responsesMediaCases } from "./media.cases.ts";
import { responsesShapeCases } from "./shape.cases.ts";
import { responsesToolCases } from "./tools.cases.ts";

/** The cases of every Responses rule. */
export const openaiResponsesCases: readonly RuleCase[] = [
  ...responsesShapeCases,
  ...responsesItemCases,
  ...responsesMediaCases,
  ...responsesToolCases,
  ...responsesFieldCases,
  ...responsesEffortCases,
];
