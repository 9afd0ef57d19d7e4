export { inputObject, readInput, type RawInput } from "./arguments.ts";
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
} from "./builders.ts";
export { contentWithoutFiles, filesIn } from "./content-view.ts";
export { parseDataUrl, toDataUrl } from "./data-url.ts";
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
  ProviderField,
  ProviderFields,
  ToolDeclaration,
  UserMessage,
} from "./entry.ts";
export { callId, isCallId, ordinalOf } from "./ids.ts";
export { intake, type Foreign, type ForeignResult, type Intake } from "./intake.ts";
export { isObject, toPlain, type JsonObject, type JsonValue } from "./json.ts";
export { Ledger, sameOutcome, type DroppedEntries, type Interaction, type NewCall, type NewPart } from "./ledger.ts";
export { kindOf, mediaAt, storeBase64, storeBytes, type MediaFacts, type Stored } from "./media.ts";
export { classOf, note, type Note, type NoteClass, type NoteKind } from "./notes.ts";
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
} from "./parts.ts";
export { hasSchemaCycle } from "./schema-cycle.ts";
export { inferStatus, outcomeFrom, type ResponseMarks } from "./state.ts";
