import { anthropicAnswers } from "./anthropic.ts";
import type { AnswerEncoder, InboundApi } from "./answer.ts";
import { geminiAnswers } from "./gemini.ts";
import { openaiChatAnswers } from "./openai-chat.ts";
import { openaiResponsesAnswers } from "./openai-responses.ts";

/** The encoders of all inbound APIs. */
export const answerEncoders: { readonly [api in InboundApi]: AnswerEncoder } = {
  anthropic: anthropicAnswers,
  "openai-chat": openaiChatAnswers,
  "openai-responses": openaiResponsesAnswers,
  gemini: geminiAnswers,
};
