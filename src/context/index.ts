export { attachMentions, type Attached, type AttachedMessage, type Refused } from "./attach.ts";
export type { AttachOptions, Refusal, Resource } from "./attachment.ts";
export {
  contextFileNames,
  readContextFiles,
  type ContextFile,
  type ContextFiles,
  type ContextOptions,
} from "./context-files.ts";
export type { ContextNote, ContextNoteKind } from "./context-note.ts";
export { contextText } from "./context-text.ts";
export { environmentText, type EnvironmentOptions } from "./environment.ts";
export { estimateMedia, estimateParts, estimateTokens } from "./estimate.ts";
export { fullContext, type FullContextOptions } from "./full-context.ts";
export { parseMentions, type MessagePiece } from "./mentions.ts";
export { openingOf, type Opening, type OpeningOptions } from "./opening.ts";
export { defaultPrompt, type PromptSetting } from "./prompt.ts";
export { survey, type Survey, type Surveyed, type SurveyOptions } from "./survey.ts";
export { systemPrompt, SystemPromptError, type SystemPrompt, type SystemPromptOptions } from "./system-prompt.ts";
export { treeText } from "./tree.ts";
