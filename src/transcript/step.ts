import type { JsonObject } from "../conversation/json.ts";
import type { CallId, MediaKind, OutcomeStatus, Seal, Structured, Text, Thinking } from "../conversation/parts.ts";

/** The result of rendering: steps in order. A call always comes with exactly one result. */
export type Transcript = readonly Step[];

/** One step of a transcript, of the user or of the model. */
export type Step = UserStep | ModelStep;

/** A user message, of the user or of the program on the user side. Never empty. */
export type UserStep = { readonly role: "user"; readonly parts: readonly (Text | MediaFile)[] };

/** A model message, with the results of its calls. Never empty. */
export type ModelStep = {
  readonly role: "model";
  readonly parts: readonly (Text | Thinking | MediaFile | CallExchange)[];
};

/** A tool call together with its result: the type guarantees the pairing. */
export type CallExchange = {
  readonly type: "exchange";
  /** Our tool-call id. */
  readonly call: CallId;
  /** The tool-call id sent to this target, on the call and on the result. */
  readonly id: string;
  /** The tool name sent to this target. */
  readonly tool: string;
  readonly input: JsonObject;
  /** The arguments as JSON text as the model wrote it, where known. */
  readonly inputText: string | undefined;
  readonly seal: Seal | undefined;
  readonly result: RenderedResult;
};

/** A tool result in the form this target accepts. Its content is never empty; `synthetic` marks a made-up result. */
export type RenderedResult = {
  readonly status: OutcomeStatus;
  readonly content: readonly (Text | Structured | MediaFile)[];
  readonly synthetic?: true;
};

/** A media file that this target accepts in this place. */
export type MediaFile = {
  readonly type: "file";
  readonly kind: MediaKind;
  readonly mimeType: string;
  readonly id: string;
  readonly name?: string;
  /** 2 or more when the same file occurs earlier in this request: some APIs refuse two files of one name. */
  readonly copy?: number;
  readonly source: { readonly type: "data"; readonly base64: string } | { readonly type: "uri"; readonly uri: string };
};

/** Whether a model step contains tool calls. */
export const hasExchange = (step: ModelStep): boolean => step.parts.some((part) => part.type === "exchange");
