import type { JsonObject, JsonValue } from "./json.ts";

/** One thing said. Readers switch on `type`; a new kind makes the compiler list the readers. */
export type Part = Text | Thinking | Code | Media | Call;

/** What a person can put in a message. */
export type UserPart = Text | Media;

/** What a tool can return, in order. */
export type Content = Text | Structured | Media;

/** Words. */
export type Text = { readonly type: "text"; readonly text: string; readonly seal?: Seal };

/** A model's reasoning, with whatever its maker needs to recognise it again. */
export type Thinking = { readonly type: "thinking"; readonly text: string; readonly seal?: Seal };

/** Code a provider ran on its own side, or what that code printed. */
export type Code = { readonly type: "code"; readonly language: string; readonly text: string };

/** A value with structure, as a tool returned it. */
export type Structured = { readonly type: "structured"; readonly value: JsonValue };

/** The four kinds of media providers tell apart. */
export type MediaKind = "image" | "document" | "audio" | "video";

/** A file: what it is, and where its bytes are. */
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

/** Bytes in the blob store, by hash, or an address someone else serves. */
export type MediaSource =
  | { readonly type: "blob"; readonly hash: string; readonly bytes: number }
  | { readonly type: "uri"; readonly uri: string };

/** A request of the model to run a tool. */
export type Call = {
  readonly type: "call";
  readonly id: CallId;
  readonly tool: string;
  readonly input: CallInput;
  readonly seal?: Seal;
};

/** A call's arguments. `text` is the model's own spelling, sent back unchanged where an API takes text. */
export type CallInput =
  | { readonly type: "parsed"; readonly value: JsonObject; readonly text?: string }
  | { readonly type: "malformed"; readonly text: string };

/** Ours, stable across providers: `hist_tool_N`, N the ordinal of the call in its conversation. */
export type CallId = `hist_tool_${number}`;

/**
 * What a provider attached to a part. It goes back only to a model that can
 * read it, and never serves as identity.
 */
export type Seal = {
  /** The provider's own id of a call. */
  readonly id?: string;
  /** The provider's id of the item (Responses). */
  readonly item?: string;
  /** Anthropic and Bedrock signatures, Gemini thought signatures. */
  readonly signature?: string;
  /** Redacted or encrypted reasoning. */
  readonly encrypted?: string;
  /** What a message was meant as (Responses): on the way to the answer, or the answer. */
  readonly phase?: string;
  /** OpenRouter's reasoning details, verbatim. */
  readonly details?: readonly JsonValue[];
};

/** How a call ended. There is no "pending": a pending call is one without a completion. */
export type Outcome = {
  readonly status: OutcomeStatus;
  readonly content: readonly Content[];
  /** Set when a repair wrote it: nobody saw the tool end this way. */
  readonly synthetic?: true;
};

/** The terminal states of a call. */
export type OutcomeStatus = "complete" | "error" | "cancelled" | "interrupted";
