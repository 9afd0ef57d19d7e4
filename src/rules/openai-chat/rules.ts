import { chatFieldRules } from "./fields.ts";
import { chatFormatRules } from "../openai/formats.ts";
import { chatMediaRules } from "./media.ts";
import { chatModelRules } from "./models.ts";
import { chatOrderRules } from "./order.ts";
import { chatPairingRules } from "./pairing.ts";
import { chatShapeRules } from "./shape.ts";
import { chatToolRules } from "./tools.ts";
import { chatEffortRules } from "../openai/effort.ts";
import type { Rule } from "../rule.ts";

/** The rules of Chat Completions, at OpenAI and at vendors with a compatible API. */
export const openaiChatRules: readonly Rule<unknown>[] = [
  ...chatShapeRules,
  ...chatOrderRules,
  ...chatPairingRules,
  ...chatMediaRules,
  ...chatToolRules,
  ...chatFieldRules,
  ...chatEffortRules,
  ...chatFormatRules,
  ...chatModelRules,
];
