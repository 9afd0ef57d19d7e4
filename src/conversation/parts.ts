import type { JsonObject, JsonValue } from "./json.ts";

/** A part of a model message. Readers switch on `type`, so the compiler lists them all when a kind is added. */
export type Part = Text | Thinking | Code | Media | Call;

/** A part of a user message. */
export type UserPart = Text | Media;

/** A piece of a tool result. */
export type Content = Text | Structured | Media;

/** Plain text. */
export type Text = { readonly type: "text"; readonly text: string; readonly seal?: Seal };

/** A model's reasoning, with the seal its API wants back. */
export type Thinking = { readonly type: "thinking"; readonly text: string; readonly seal?: Seal };

/** Code the provider executed on its servers, or the output of that code. */
export type Code = { readonly type: "code"; readonly language: string; readonly text: string };

/** A JSON value returned by a tool. */
export type Structured = { readonly type: "structured"; readonly value: JsonValue };

/** The four kinds of media that providers distinguish. */
export type MediaKind = "image" | "document" | "audio" | "video";

/** A media file: its metadata, and where its bytes are. */
export type Media = {
  readonly type: "media";
  readonly kind: MediaKind;
  readonly mimeType: string;
  /** Short, stable and derived from the content: `file-` and eight hex digits. */
  readonly id: string;
  readonly source: MediaSource;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  readonly pages?: number;
};

/** Bytes in the blob store, by hash, or a URL. */
export type MediaSource =
  | { readonly type: "blob"; readonly hash: string; readonly bytes: number }
  | { readonly type: "uri"; readonly uri: string };

/** A tool call: the model's request to run a tool. */
export type Call = {
  readonly type: "call";
  readonly id: CallId;
  readonly tool: string;
  readonly input: CallInput;
  readonly seal?: Seal;
};

/** A call's arguments. `text` is the JSON as the model wrote it, sent back unchanged to APIs that take text. */
export type CallInput =
  | { readonly type: "parsed"; readonly value: JsonObject; readonly text?: string }
  | { readonly type: "malformed"; readonly text: string };

/** Our tool-call id, stable across providers: `hist_tool_N`, N the ordinal of the call in its conversation. */
export type CallId = `hist_tool_${number}`;

/**
 * Opaque data a provider attached to a part. It is sent back only to a model that can read it, and is never used as
 * identity.
 */
export type Seal = {
  /** The provider's own tool-call id. */
  readonly id?: string;
  /** The provider's id of the item (Responses). */
  readonly item?: string;
  /** Anthropic and Bedrock signatures, Gemini thought signatures. */
  readonly signature?: string;
  /** Redacted or encrypted reasoning. */
  readonly encrypted?: string;
  /** The phase of a message (Responses): commentary before the answer, or the answer. */
  readonly phase?: string;
  /** OpenRouter's reasoning details, verbatim. */
  readonly details?: readonly JsonValue[];
};

/** How a tool call ended. There is no "pending": a pending call is one without a completion. */
export type Outcome = {
  readonly status: OutcomeStatus;
  readonly content: readonly Content[];
  /** Set when a repair made the outcome up: it was not observed. */
  readonly synthetic?: true;
};

/** The final states of a tool call. */
export type OutcomeStatus = "complete" | "error" | "cancelled" | "interrupted";
