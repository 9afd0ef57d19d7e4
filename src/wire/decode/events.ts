import type { NewCall } from "../../conversation/ledger.ts";
import type { Code, Text, Thinking } from "../../conversation/parts.ts";

/** One frame of a stream. `name` is the event name, or "" where the framing has none; `data` is parsed JSON. */
export type StreamFrame = { readonly name: string; readonly data: unknown };

/** An event of a response as it is decoded. `index` is the index of a part in the message: parts are numbered in the order they start. */
export type ResponseEvent =
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "thinking-delta"; readonly index: number; readonly text: string }
  /** A call starts. `id` is the provider's, where the API sends it first. */
  | { readonly type: "call-start"; readonly index: number; readonly tool: string; readonly id?: string }
  /** A piece of a call's arguments as JSON text. It must not be parsed before the part has ended. */
  | { readonly type: "call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "part-end"; readonly index: number; readonly part: ResponsePart }
  /** The token usage so far; a later event replaces an earlier one. */
  | { readonly type: "usage"; readonly usage: TokenUsage }
  /** The responding model, as the server names it, and the response id. */
  | { readonly type: "response-start"; readonly model?: string; readonly id?: string }
  /** The response is complete. A stream that ends without this event was cut. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly raw?: string }
  /** The server reports an error instead of the rest. */
  | { readonly type: "error"; readonly error: ApiError }
  /** The stream violates its protocol and cannot be trusted. */
  | { readonly type: "malformed"; readonly what: string }
  /** Something this version does not know, or that a conversation cannot hold. Counted, never fatal. */
  | { readonly type: "skipped"; readonly what: string };

/** A complete part of a response. */
export type ResponsePart = Text | Thinking | Code | NewCall | GeneratedFile;

/** A file the model generated, before its bytes are stored. */
export type GeneratedFile = { readonly type: "file"; readonly mimeType: string; readonly data: string };

/** Why the model stopped. */
export type FinishReason =
  /** The message is complete. */
  | "stop"
  /** It waits for tool results. */
  | "calls"
  /** The response reached its token limit. */
  | "length"
  /** The context window is full. */
  | "context"
  /** A content filter blocked the prompt or the response. */
  | "filtered"
  /** The model refused. */
  | "refused"
  /** The server paused a long response; sending the same conversation continues it. */
  | "paused"
  /** The model wrote a malformed tool call. */
  | "malformed"
  | "other";

/** Token usage, counted the same way for every provider. Fields are whole numbers, never negative. */
export type TokenUsage = {
  /** All input tokens, cached or not. */
  readonly input: number;
  /** The part of `input` read from the provider's prompt cache. */
  readonly cachedRead: number;
  /** The part of `input` written to the provider's prompt cache. */
  readonly cachedWrite: number;
  /** All output tokens, reasoning included. */
  readonly output: number;
  /** The part of `output` spent on reasoning. */
  readonly reasoning: number;
  /** The part of `input` read by the provider's own tools, where reported. */
  readonly toolUse?: number;
  /** The parts of `input` by modality, where reported. */
  readonly inputBy?: { readonly [modality in UsageModality]?: number };
};

/** The modality of tokens. */
export type UsageModality = "text" | "image" | "document" | "audio" | "video";

/** An error as reported by a server. */
export type ApiError = {
  readonly message: string;
  /** The vendor's name for it: an error type, code or status, whichever is most specific. */
  readonly code?: string;
  /** The HTTP status stated in the body, if any. */
  readonly status?: number;
  /** The request field the error is about. */
  readonly param?: string;
  /** The delay before a retry that the server asks for, in milliseconds. */
  readonly retryAfter?: number;
  /** More specific reasons some vendors attach, verbatim: quota ids, error codes, exception names. */
  readonly reasons?: readonly string[];
};

/** Stream decoding as a pure fold over frames. */
export type StreamFold<State> = {
  readonly start: State;
  readonly step: (state: State, frame: StreamFrame) => readonly [State, readonly ResponseEvent[]];
  /** Returns the remaining events when the stream ends. Without a `finish` here or before, it was cut. */
  readonly end: (state: State) => readonly ResponseEvent[];
};

/** Decodes the responses of one API family. */
export type ResponseDecoder<Dialect> = {
  /** Opens a decoder for one stream. */
  readonly open: (dialect: Dialect) => StreamDecoder;
  /** Splits a complete JSON response into the frames that would have streamed it. */
  readonly frames: (body: unknown) => readonly StreamFrame[];
  /** Parses the error a body or frame reports, if any. */
  readonly parseError: (body: unknown) => ApiError | undefined;
};

/** Decodes one stream, frame by frame. */
export type StreamDecoder = {
  readonly step: (frame: StreamFrame) => readonly ResponseEvent[];
  readonly end: () => readonly ResponseEvent[];
};

/** Creates a decoder that keeps a fold's state between frames. */
export const createStreamDecoder = <State>(fold: StreamFold<State>): StreamDecoder => {
  let state = fold.start;
  return {
    step: (frame) => {
      const [next, events] = fold.step(state, frame);
      state = next;
      return events;
    },
    end: () => fold.end(state),
  };
};

/** Normalizes a token count: a whole number, not negative, 0 for anything else. */
export const toTokenCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
