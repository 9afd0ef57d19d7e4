import type { JsonObject } from "../../conversation/json.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import type { ContentEvent } from "../../transport/events.ts";
import type { GatewayFailure } from "./failure.ts";

/** The APIs that clients of the gateway speak. */
export type InboundApi = "anthropic" | "openai-chat" | "openai-responses" | "gemini";

/** Encodes the answers of one inbound API: a pure fold over the events of the target's response. */
export type AnswerEncoder = {
  readonly api: InboundApi;
  /** The content type of a stream. A complete answer and an error are JSON. */
  readonly contentType: (context: AnswerContext) => string;
  readonly openStream: (context: AnswerContext) => AnswerStream;
  /** Encodes a complete answer from all events of a response, `finish` among them. */
  readonly encodeComplete: (context: AnswerContext, events: readonly ContentEvent[]) => JsonObject;
  readonly encodeError: (failure: GatewayFailure, requestId: string) => ErrorAnswer;
  readonly encodeTokenCount: (tokens: number) => JsonObject;
  readonly encodeModels: (models: readonly GatewayModel[]) => JsonObject;
};

/** One open stream. Every function returns the bytes to send now, as text; "" if there are none. */
export type AnswerStream = {
  readonly push: (event: ContentEvent) => string;
  /** Reports a failure to the client in its API's words, and ends the stream. */
  readonly fail: (failure: GatewayFailure) => string;
  /** Keeps the connection alive. Safe at any time between two pushes. */
  readonly ping: () => string;
  /** Closes the stream after `finish` or `fail`. */
  readonly end: () => string;
};

/** An HTTP error response. */
export type ErrorAnswer = {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: JsonObject;
};

/** Describes the exchange an answer belongs to. */
export type AnswerContext = {
  /** The model as the client named it. Answers repeat this name. */
  readonly model: string;
  /** Unique letters and digits without a prefix; encoders add the one of their API. */
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  /** An estimate of the input tokens, for APIs that report them before the target has. */
  readonly inputTokens?: number;
  /**
   * Wraps seals for an opaque field of the client's API. The same cargo must give the same text. Without it, seals are
   * left out.
   */
  readonly wrapSeal?: (cargo: SealCargo) => string;
  /** Keeps the seals of a call for a client that may not return them, under the id the client knows. */
  readonly keepSeal?: (callId: string, cargo: SealCargo) => void;
  readonly options: AnswerOptions;
};

/** The parts of a request that its answer depends on. */
export type AnswerOptions = {
  /**
   * How the client takes thinking: with its text, as a seal alone (Anthropic's `display: omitted`), or not at all.
   * Chat Completions and Gemini clients that asked for nothing take `none`.
   */
  readonly thinking: "shown" | "sealed" | "none";
  /** Chat Completions: whether a stream ends with a usage chunk. */
  readonly includeUsage?: boolean;
  /** Chat Completions: the field of thinking, which has chunks of its own in `content`. Default: `reasoning_content`. */
  readonly thinkingField?: "reasoning_content" | "reasoning" | "content";
  /** Chat Completions: the field of usage in the last chunk with a choice, for clients that read it there. */
  readonly finalUsage?: "x_groq" | "usage";
  /** Chat Completions: whether a call comes in one chunk of a stream. */
  readonly wholeCalls?: boolean;
  /** How the client names tools that are not plain functions, by the name the target calls them. */
  readonly tools?: ReadonlyMap<string, ClientTool>;
  /** Gemini: a stream of server-sent events (`alt=sse`), or one JSON array. */
  readonly framing?: "sse" | "json-array";
  /** Responses: fields of the request that the response object repeats. */
  readonly echo?: JsonObject;
  /** Responses: the text of the response is a summary, for an item of type `compaction`. */
  readonly isSummary?: boolean;
};

/** A tool as a Responses client declared it. A `custom` tool takes the text in the argument `input`. */
export type ClientTool = {
  readonly type: "function" | "custom";
  readonly name: string;
  readonly namespace?: string;
};

/**
 * The content of an opaque field. The client returns it with the part it is on; only the gateway reads it.
 *
 * Anthropic and Responses: every thinking part is a thinking block (or reasoning item) whose signature (or encrypted
 * content) holds `seal`, and `text` where the client does not see the text. A call or text with a seal has an empty
 * thinking block before it whose cargo is `next`, or one after it whose cargo is `previous` or `thinking`. Gemini: clients drop thoughts, so the `thoughtSignature` of a call or
 * text holds its `seal`, and in `before` the thinking parts since the last call or text; the first call repeats in
 * `first` those before a text, whose signature clients drop. Chat Completions: one
 * `reasoning_details` entry of type `reasoning.encrypted` for each thinking part (`seal`, `text`), and for each call
 * with a seal, which its `id` names.
 */
export type SealCargo = {
  /** The seal of the part that carries it. */
  readonly seal?: Seal;
  /** The text of the thinking part that carries it, if the client does not get it. */
  readonly text?: string;
  /** The seal of the next part. */
  readonly next?: Seal;
  /** The seal of the text before it, which was not known when that text was sent. */
  readonly previous?: Seal;
  /** The seal of the latest thinking part before it, likewise. */
  readonly thinking?: Seal;
  /** The thinking parts before the part that carries it. */
  readonly before?: readonly Thinking[];
  /** On the first call of a response: the thinking parts at its start, before any text. */
  readonly first?: readonly Thinking[];
};

/** A model the gateway offers. */
export type GatewayModel = {
  readonly id: string;
  readonly label?: string;
  /** Seconds since 1970. */
  readonly created?: number;
  readonly contextWindow?: number;
  readonly maxOutput?: number;
};
