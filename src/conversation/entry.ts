import type { JsonObject, JsonValue } from "./json.ts";
import type { CallId, Media, Outcome, Part, UserPart } from "./parts.ts";

/** What happened, in the order it happened. Append-only. */
export type Entry = UserMessage | ModelMessage | Completion | Compaction | Notice | MediaCopy;

/** Something the person said. */
export type UserMessage = { readonly type: "user"; readonly parts: readonly UserPart[] };

/** Something a model said, and which model. */
export type ModelMessage = {
  readonly type: "model";
  readonly origin: Origin;
  readonly parts: readonly Part[];
  /** Digest of the request this message answered. Signed thinking bound to its prefix is only sent while it still matches. */
  readonly prefix?: string;
};

/** The end of a call. The first one for a call wins. */
export type Completion = {
  readonly type: "completion";
  readonly call: CallId;
  readonly tool: string;
  readonly outcome: Outcome;
};

/**
 * Everything before entry `from` but a notice the conversation opens with is replaced, for models, by `summary`; an empty
 * one replaces nothing. With `longest`,
 * texts in the results before entry `from` are shown up to so many characters, from both ends.
 */
export type Compaction = {
  readonly type: "compaction";
  readonly summary: string;
  readonly from: number;
  readonly longest?: number;
};

/** Something the runtime tells the model. With `opens`, it goes in one message with what the person says next. */
export type Notice = { readonly type: "notice"; readonly text: string; readonly opens?: true };

/** A file that was fetched from its address, for APIs that do not fetch it themselves. */
export type MediaCopy = {
  readonly type: "copy";
  /** The address media of this conversation name. */
  readonly uri: string;
  /** The file as it came, with its bytes in the blob store. */
  readonly media: Media;
};

/** Who made a message. `account` is a digest, never a key. */
export type Origin = { readonly provider: string; readonly model: string; readonly account?: string };

/** A tool as it is offered to models. */
export type ToolDeclaration = {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: JsonObject;
  /** What else a body of one API said about it. */
  readonly extra?: ProviderFields;
};

/**
 * Fields of a request that only their own API knows. They are written again
 * for the model they were written for, and noted for any other.
 */
export type ProviderFields = {
  readonly provider: string;
  /** Empty where the body did not name its model. */
  readonly model: string;
  readonly fields: readonly ProviderField[];
};

/** One such field. */
export type ProviderField = {
  /** Keys from the top, joined by `/`; a last `-` appends to a list. */
  readonly at: string;
  readonly value: JsonValue;
  /** A path the request must have for this field to be taken. */
  readonly needs?: string;
  /** Set for what models refuse that take no sampling settings. */
  readonly sampling?: true;
  /** Set where a setting carries the same to other APIs, so that only its own API misses it. */
  readonly translated?: true;
  /** The note where the field is not written; `unknown-part` where its absence changes what the model sees. */
  readonly loss: string;
  readonly kind?: "unknown-part";
};

/** Base64 by sha256 of the bytes. */
export type Blobs = { readonly [hash: string]: string };

/** Everything there is to say about a conversation, as plain data. */
export type Conversation = {
  readonly version: 1;
  readonly system?: string;
  readonly tools?: readonly ToolDeclaration[];
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
};
