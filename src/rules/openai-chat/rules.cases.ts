import type { RuleCase } from "../rule.cases.ts";
import { chatFieldCases } from "./fields.cases.ts";
import { chatMediaCases } from "./media.cases.ts";
import { chatModelCases } from "./models.cases.ts";
import { chatOrderCases } from "./order.cases.ts";
import { chatPairingCases } from "./pairing.cases.ts";
import { chatShapeCases } from "./shape.cases.ts";
import { chatToolCases } from "./tools.cases.ts";
import { chatEffortCases } from "../openai/effort.cases.ts";

/** The cases of every Chat Completions rule. */
export const openaiChatCases: readonly RuleCase[] = [
  ...chatShapeCases,
  ...chatOrderCases,
  ...chatPairingCases,
  ...chatMediaCases,
  ...chatToolCases,
  ...chatFieldCases,
  ...chatEffortCases,
  ...chatModelCases,
];
