import type { RuleCase } from "./cases.ts";
import { chatFieldCases } from "./openai-chat-fields.cases.ts";
import { chatMediaCases } from "./openai-chat-media.cases.ts";
import { chatModelCases } from "./openai-chat-models.cases.ts";
import { chatOrderCases } from "./openai-chat-order.cases.ts";
import { chatPairingCases } from "./openai-chat-pairing.cases.ts";
import { chatShapeCases } from "./openai-chat-shape.cases.ts";
import { chatToolCases } from "./openai-chat-tools.cases.ts";
import { chatEffortCases } from "./openai-effort.cases.ts";

/** Bodies that Chat Completions refuses, each beside one it takes. */
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
