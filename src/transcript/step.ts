import type { JsonObject } from "../conversation/json.ts";
import type { CallId, MediaKind, OutcomeStatus, Seal, Structured, Text, Thinking } from "../conversation/parts.ts";

/** What may be shown to one target. A call cannot stand here without its one result. */
export type Transcript = readonly Step[];

/** One turn of either side. */
export type Step = UserStep | ModelStep;

/** What the person, or the runtime in the person's place, says. Never empty. */
export type UserStep = { readonly role: "user"; readonly parts: readonly (Text | MediaFile)[] };

/** What a model said, with the results of what it asked for. Never empty. */
export type ModelStep = {
  readonly role: "model";
  readonly parts: readonly (Text | Thinking | MediaFile | CallExchange)[];
};

/** A call together with its result: pairing is a property of the type. */
export type CallExchange = {
  readonly type: "exchange";
  /** The canonical identity. */
  readonly call: CallId;
  /** The id this target sees, on the call and on the result alike. */
  readonly id: string;
  /** The tool name this target sees. */
  readonly tool: string;
  readonly input: JsonObject;
  /** The arguments as text, in the model's own spelling where there is one. */
  readonly inputText: string | undefined;
  readonly seal: Seal | undefined;
  readonly result: RenderedResult;
};

/** How a call ended, as this target can be told. Its content is never empty; `synthetic` says that nobody saw this end. */
export type RenderedResult = {
  readonly status: OutcomeStatus;
  readonly content: readonly (Text | Structured | MediaFile)[];
  readonly synthetic?: true;
};

/** Media this target can take where it stands. */
export type MediaFile = {
  readonly type: "file";
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly id: string;
  readonly name?: string;
  /** Set from 2 on when the same file was shown before in this request: two of one name are refused here and there. */
  readonly copy?: number;
  readonly source: { readonly type: "data"; readonly base64: string } | { readonly type: "uri"; readonly uri: string };
};

/** Whether a model step asked for tools. */
export const hasExchange = (step: ModelStep): boolean => step.parts.some((part) => part.type === "exchange");
