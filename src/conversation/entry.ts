import type { JsonObject, JsonValue } from "./json.ts";
import type { CallId, Media, Outcome, Part, UserPart } from "./parts.ts";

/** One record of a conversation. Entries are in chronological order and append-only. */
export type Entry = UserMessage | ModelMessage | Completion | Compaction | Notice | MediaCopy;

/** A message of the user. */
export type UserMessage = { readonly type: "user"; readonly parts: readonly UserPart[] };

/** A message of a model, with the model that wrote it. */
export type ModelMessage = {
  readonly type: "model";
  readonly origin: Origin;
  readonly parts: readonly Part[];
  /** Hash of the request this message responds to. Signed thinking bound to its prefix is only sent while it still matches. */
  readonly prefix?: string;
};

/** The outcome of a tool call. The first one recorded for a call wins. */
export type Completion = {
  readonly type: "completion";
  readonly call: CallId;
  readonly tool: string;
  readonly outcome: Outcome;
};

/**
 * A compaction: models see `summary` in place of all entries before `from`, except a notice the conversation opens with.
 * An empty summary replaces nothing. With `longest`, texts in tool results before entry `from` are truncated in the
 * middle to that many characters.
 */
export type Compaction = {
  readonly type: "compaction";
  readonly summary: string;
  readonly from: number;
  readonly longest?: number;
};

/** Text the program adds for the model. With `opens`, it is sent in one message with the user's next message. */
export type Notice = { readonly type: "notice"; readonly text: string; readonly opens?: true };

/** A media file downloaded from its URL, for APIs that do not fetch URLs themselves. */
export type MediaCopy = {
  readonly type: "copy";
  /** The URL that media of this conversation refer to. */
  readonly uri: string;
  /** The downloaded file, with its bytes in the blob store. */
  readonly media: Media;
};

/** The provider and model that wrote a message. `account` is a hash, never a key. */
export type Origin = { readonly provider: string; readonly model: string; readonly account?: string };

/** A tool as declared to models. */
export type ToolDeclaration = {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  /** Further fields of the declaration that only one API knows. */
  readonly extra?: ProviderFields;
};

/**
 * Fields of a request that only their own API knows. They are written again for the model they were read from; for any
 * other model a note says that they are left out.
 */
export type ProviderFields = {
  readonly provider: string;
  /** Empty where the body did not name its model. */
  readonly model: string;
  readonly fields: readonly ProviderField[];
};

/** One field that only its own API knows. */
export type ProviderField = {
  /** Keys from the top, joined by `/`; a last `-` appends to a list. */
  readonly at: string;
  readonly value: JsonValue;
  /** A path the request must contain for the API to accept this field. */
  readonly needs?: string;
  /** Set for sampling fields, which models without sampling settings refuse. */
  readonly sampling?: true;
  /** Set where a setting carries the same meaning to other APIs, so that nothing is lost there. */
  readonly translated?: true;
  /** Message of the note when the field is not written. The note is an `unknown-part` where the model then sees something else. */
  readonly loss: string;
  readonly kind?: "unknown-part";
};

/** The blob store: base64 by SHA-256 of the bytes. */
export type Blobs = { readonly [hash: string]: string };

/** A whole conversation as plain JSON data. */
export type Conversation = {
  readonly version: 1;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
};
