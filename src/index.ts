import type { Conversation } from "./conversation/index.ts";

/*
 * The whole in four calls: `renderRequest` (our conversation to anyone's body), `convertRequest`
 * (anyone's body to anyone else's), `readRequest` (anyone's body to our conversation) and `lint`
 * (what an API would refuse).
 */
export {
  convertRequest,
  destinationOf,
  findProvider,
  findWire,
  inferWire,
  providers,
  readRequest,
  renderRequest,
  sourceOf,
  UnknownNameError,
  wireIds,
  type Auth,
  type Endpoint,
  type From,
  type Provider,
  type Quirk,
  type RequestOptions,
} from "./providers/index.ts";
export { lint, type Finding, type RuleTarget, type RuleWire } from "./rules/index.ts";

/* A conversation is written through a `Ledger`; what others wrote comes in through `intake`. */
export {
  call,
  cancelled,
  contentWithoutFiles,
  done,
  emptyConversation,
  failed,
  filesIn,
  inferStatus,
  outcomeFrom,
  intake,
  interrupted,
  kindOf,
  Ledger,
  mediaAt,
  parseDataUrl,
  storeBase64,
  storeBytes,
  structured,
  text,
  thinking,
  toDataUrl,
  type Blobs,
  type Call,
  type CallId,
  type CallInput,
  type Code,
  type Compaction,
  type Completion,
  type Content,
  type Conversation,
  type Entry,
  type Foreign,
  type ForeignResult,
  type Intake,
  type Interaction,
  type JsonObject,
  type JsonValue,
  type Media,
  type MediaCopy,
  type MediaFacts,
  type MediaKind,
  type MediaSource,
  type ModelMessage,
  type NewCall,
  type NewPart,
  type Note,
  type NoteClass,
  type NoteKind,
  type Notice,
  type Origin,
  type Outcome,
  type OutcomeStatus,
  type Part,
  type RawInput,
  type ResponseMarks,
  type Seal,
  type Stored,
  type Structured,
  type Text,
  type Thinking,
  type ToolDeclaration,
  type UserMessage,
  type UserPart,
} from "./conversation/index.ts";

/* For a session that goes on: `settle` before each request, one `Composer` for each target. */
export {
  defaultPolicy,
  render,
  Rendering,
  settle,
  UnsupportedMediaError,
  type CallReport,
  type Policy,
  type RenderingOptions,
  type Report,
  type Step,
  type Target,
  type Transcript,
} from "./transcript/index.ts";
export {
  AnswerBuilder,
  compose,
  Composer,
  convertToFunctionResponse,
  supportsMultimodalFunctionResponse,
  toolResultToParts,
  type Answer,
  type AnswerEvent,
  type CacheSetting,
  type Composed,
  type ComposeOptions,
  type ComposerOptions,
  type Destination,
  type FinishReason,
  type GeminiPart,
  type GeminiPartList,
  type Reading,
  type Settings,
  type ThinkingSetting,
  type ToolChoice,
  type ToolOutputSettings,
  type ToolResult,
  type Usage,
  type WireId,
} from "./wire/index.ts";

/* For requests that really leave: one `openTransport` for a program, with the world it lives in. */
export {
  explain,
  openGate,
  openTransport,
  ProviderError,
  type Failure,
  type Outgoing,
  type Transport,
  type TransportEvent,
  type TransportOptions,
} from "./transport/index.ts";
export { realWorld, simulatedWorld, type World } from "./world/index.ts";

/**
 * A saved conversation, checked; rejects with a `ConversationFormatError` that names the place.
 * The schemas it needs are loaded by the first call, so that nobody else waits for them.
 */
export const parseConversation = async (value: unknown): Promise<Conversation> =>
  (await import("./conversation/parse.ts")).parseConversation(value);
