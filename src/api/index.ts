/**
 * Conversations, request bodies for any provider, and sending them.
 *
 * @packageDocumentation
 */
import type { Conversation } from "../conversation/entry.ts";

/*
 * `renderRequest` makes a request body for any provider from a conversation, `convertRequest` converts a
 * request body from one API to another, `readRequest` makes a conversation from a request body.
 * `lint`, which checks a body, is in `parley-agent/rules`.
 */
export { providers } from "../providers/all.ts";
export { defineChatProvider, type ChatProviderData } from "../providers/chat-provider.ts";
export type { Auth, Endpoint, Provider } from "../providers/define.ts";
export { destinationOf, findProvider, findWire, wireIds } from "../providers/find.ts";
export type { Quirk } from "../providers/quirks.ts";
export {
  convertRequest,
  inferWire,
  readRequest,
  renderRequest,
  parseSource,
  type RequestSource,
  type RequestOptions,
} from "../providers/request.ts";
export { UnknownNameError } from "../providers/unknown-name.ts";

/* A conversation is written with a `Ledger`; histories of other programs are imported with `importHistory`. */
export type { RawCallInput } from "../conversation/call-input.ts";
export {
  call,
  cancelled,
  done,
  emptyConversation,
  failed,
  interrupted,
  structured,
  text,
  thinking,
} from "../conversation/builders.ts";
export { contentWithoutFiles, filesIn } from "../conversation/content-view.ts";
export { parseDataUrl, toDataUrl } from "../conversation/data-url.ts";
export type {
  Blobs,
  Compaction,
  Completion,
  Conversation,
  Entry,
  MediaCopy,
  ModelMessage,
  Notice,
  Origin,
  ToolDeclaration,
  UserMessage,
} from "../conversation/entry.ts";
export {
  importHistory,
  type ForeignCompaction,
  type ForeignEntry,
  type ForeignResult,
  type ImportedHistory,
} from "../conversation/import-history.ts";
export type { JsonObject, JsonValue } from "../conversation/json.ts";
export { Ledger, type Interaction, type NewCall, type NewPart } from "../conversation/ledger.ts";
export {
  mediaKindOf,
  mediaAt,
  storeBase64,
  storeBytes,
  type MediaFacts,
  type StoredMedia,
} from "../conversation/media.ts";
export type { Note, NoteClass, NoteKind } from "../conversation/notes.ts";
export type {
  Call,
  CallId,
  CallInput,
  Code,
  Content,
  Media,
  MediaKind,
  MediaSource,
  Outcome,
  OutcomeStatus,
  Part,
  Seal,
  Structured,
  Text,
  Thinking,
  UserPart,
} from "../conversation/parts.ts";
export { inferStatus, outcomeFromRecorded, type RecordedResponse } from "../conversation/infer-status.ts";

/* For a growing session: `recordDecisions` before each request, one `RequestComposer` per target. */
export { UnsupportedMediaError } from "../transcript/place.ts";
export { render } from "../transcript/render.ts";
export {
  IncrementalRenderer,
  type CallReport,
  type RendererOptions,
  type RenderReport,
} from "../transcript/incremental-renderer.ts";
export { recordDecisions } from "../transcript/record-decisions.ts";
export type { Step, Transcript } from "../transcript/step.ts";
export { defaultRenderPolicy, type RenderPolicy, type Target } from "../transcript/target.ts";
export { ResponseBuilder, type DecodedResponse } from "../wire/decode/response-builder.ts";
export type { Destination } from "../wire/bind.ts";
export {
  composeRequest,
  RequestComposer,
  type ComposedRequest,
  type ComposeOptions,
  type RequestComposerOptions,
} from "../wire/compose.ts";
export type { ResponseEvent, FinishReason, TokenUsage } from "../wire/decode/events.ts";
export {
  convertToFunctionResponse,
  supportsMultimodalFunctionResponse,
  toolResultToParts,
  type GeminiPart,
  type GeminiPartList,
  type ToolOutputSettings,
  type GeminiToolResult,
} from "../wire/gemini/function-response.ts";
export type {
  CacheSetting,
  DecodedRequest,
  RequestSettings,
  OutputFormat,
  ThinkingSetting,
  ToolChoice,
  WireId,
} from "../wire/wire.ts";

export { createOutputFormat } from "../wire/schema/output.ts";

/* To send requests: one `openTransport` per program, with the world it runs in. */
export { createRequestSigner } from "../transport/credentials/request-signer.ts";
export type { TransportEvent } from "../transport/events.ts";
export { explainFailure, ProviderError, type Failure } from "../transport/failure.ts";
export { openTransport, type OutgoingRequest, type Transport, type TransportOptions } from "../transport/transport.ts";
export { realWorld } from "../world/real/world.ts";
export { simulatedWorld, type SimulatedOptions, type SimulatedWorld } from "../world/simulated/world.ts";
export type { World } from "../world/world.ts";

/**
 * Validates a saved conversation; rejects with a `ConversationFormatError` that names the place. The schemas are loaded
 * by the first call, so that programs that do not call it start faster.
 */
export const parseConversation = async (value: unknown): Promise<Conversation> =>
  (await import("../conversation/parse.ts")).parseConversation(value);
