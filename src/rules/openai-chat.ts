import { chatFieldRules } from "./openai-chat-fields.ts";
import { chatFormatRules } from "./openai-formats.ts";
import { chatMediaRules } from "./openai-chat-media.ts";
import { chatModelRules } from "./openai-chat-models.ts";
import { chatOrderRules } from "./openai-chat-order.ts";
import { chatPairingRules } from "./openai-chat-pairing.ts";
import { chatShapeRules } from "./openai-chat-shape.ts";
import { chatToolRules } from "./openai-chat-tools.ts";
import { chatEffortRules } from "./openai-effort.ts";
import type { Rule } from "./rule.ts";

/** What Chat Completions refuses, at OpenAI and at the vendors who copy it. */
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
