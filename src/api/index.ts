import type { Conversation } from "../conversation/entry.ts";

/*
 * `renderRequest` makes a request body for any provider from a conversation, `convertRequest` converts a
 * request body from one API to another, `readRequest` makes a conversation from a request body.
 * `lint`, which checks a body, is in `parley-agent/rules`.
 */
export { providers } from "../providers/all.ts";
export type { Auth, Endpoint, Provider } from "../providers/define.ts";
export { destinationOf, findProvider, findWire, wireIds } from "../providers/find.ts";
export type { Quirk } from "../providers/quirks.ts";
export {
  convertRequest,
  inferWire,
  readRequest,
  renderRequest,
  sourceOf,
  type From,
  type RequestOptions,
} from "../providers/request.ts";
export { UnknownNameError } from "../providers/unknown-name.ts";

/* A conversation is written through a `Ledger`; what others wrote comes in through `intake`. */
export type { RawInput } from "../conversation/arguments.ts";
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
export { intake, type Foreign, type ForeignResult, type Intake } from "../conversation/intake.ts";
export type { JsonObject, JsonValue } from "../conversation/json.ts";
export { Ledger, type Interaction, type NewCall, type NewPart } from "../conversation/ledger.ts";
export { kindOf, mediaAt, storeBase64, storeBytes, type MediaFacts, type Stored } from "../conversation/media.ts";
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
export { inferStatus, outcomeFrom, type ResponseMarks } from "../conversation/state.ts";

/* For a session that goes on: `settle` before each request, one `Composer` for each target. */
export { UnsupportedMediaError } from "../transcript/place.ts";
export { render } from "../transcript/render.ts";
export { Rendering, type CallReport, type RenderingOptions, type Report } from "../transcript/rendering.ts";
export { settle } from "../transcript/settle.ts";
export type { Step, Transcript } from "../transcript/step.ts";
export { defaultPolicy, type Policy, type Target } from "../transcript/target.ts";
export { AnswerBuilder, type Answer } from "../wire/answer.ts";
export type { Destination } from "../wire/bind.ts";
export { compose, Composer, type Composed, type ComposeOptions, type ComposerOptions } from "../wire/compose.ts";
export type { AnswerEvent, FinishReason, Usage } from "../wire/decode.ts";
export {
  convertToFunctionResponse,
  supportsMultimodalFunctionResponse,
  toolResultToParts,
  type GeminiPart,
  type GeminiPartList,
  type ToolOutputSettings,
  type ToolResult,
} from "../wire/function-response.ts";
export type { CacheSetting, Reading, Settings, ThinkingSetting, ToolChoice, WireId } from "../wire/wire.ts";

/* For requests that really leave: one `openTransport` for a program, with the world it lives in. */
export { openGate } from "../transport/credentials-gate.ts";
export { explain, ProviderError, type Failure } from "../transport/failure.ts";
export {
  openTransport,
  type Outgoing,
  type Transport,
  type TransportEvent,
  type TransportOptions,
} from "../transport/transport.ts";
export { realWorld } from "../world/real.ts";
export { simulatedWorld } from "../world/simulated.ts";
export type { World } from "../world/world.ts";

/**
 * A saved conversation, checked; rejects with a `ConversationFormatError` that names the place.
 * The schemas it needs are loaded by the first call, so that nobody else waits for them.
 */
export const parseConversation = async (value: unknown): Promise<Conversation> =>
  (await import("../conversation/parse.ts")).parseConversation(value);
