import type { RuleCase } from "./cases.ts";
import { responsesEffortCases } from "./openai-effort.cases.ts";
import { responsesFieldCases } from "./openai-responses-fields.cases.ts";
import { responsesItemCases } from "./openai-responses-items.cases.ts";
import { responsesMediaCases } from "./openai-responses-media.cases.ts";
import { responsesShapeCases } from "./openai-responses-shape.cases.ts";
import { responsesToolCases } from "./openai-responses-tools.cases.ts";

/** Bodies that the Responses API refuses, each beside one it takes. */
export const openaiResponsesCases: readonly RuleCase[] = [
  ...responsesShapeCases,
  ...responsesItemCases,
  ...responsesMediaCases,
  ...responsesToolCases,
  ...responsesFieldCases,
  ...responsesEffortCases,
];
