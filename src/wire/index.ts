export { AnswerBuilder, type Answer } from "./answer.ts";
export { anthropic, type AnthropicDialect } from "./anthropic.ts";
export { bedrock, type BedrockDialect } from "./bedrock.ts";
export { bind, type BoundRequest, type BoundWire, type Destination } from "./bind.ts";
export { compose, Composer, type Composed, type ComposeOptions, type ComposerOptions } from "./compose.ts";
export {
  decoding,
  type AnswerEvent,
  type AnswerPart,
  type Decode,
  type Decoding,
  type FinishReason,
  type Fold,
  type Frame,
  type Modality,
  type NewFile,
  type Problem,
  type Usage,
} from "./decode.ts";
export {
  convertToFunctionResponse,
  supportsMultimodalFunctionResponse,
  toolResultToParts,
  type GeminiBlob,
  type GeminiFileData,
  type GeminiFunctionResponse,
  type GeminiPart,
  type GeminiPartList,
  type ToolOutputSettings,
  type ToolResult,
} from "./function-response.ts";
export { gemini, type GeminiDialect } from "./gemini.ts";
export { openaiChat, type ChatDialect, type ChatThinking } from "./openai-chat.ts";
export { openaiResponses, type ResponsesDialect } from "./openai-responses.ts";
export type { Efforts, OpenaiDialect } from "./openai.ts";
export type {
  CacheSetting,
  Encoded,
  Reading,
  Settings,
  ThinkingSetting,
  ToolChoice,
  Wire,
  WireId,
  WireRequest,
} from "./wire.ts";
