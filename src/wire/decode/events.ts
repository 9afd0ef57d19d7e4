import type { NewCall } from "../../conversation/ledger.ts";
import type { Code, Text, Thinking } from "../../conversation/parts.ts";

/** One frame of a stream. `name` is what the framing calls it, or "" where it has no names; `data` is parsed JSON. */
export type StreamFrame = { readonly name: string; readonly data: unknown };

/**
 * What an answer is made of, as it arrives. `index` is the place of a part in
 * the message: parts are numbered in the order they begin.
 */
export type ResponseEvent =
  | { readonly type: "text-delta"; readonly index: number; readonly text: string }
  | { readonly type: "thinking-delta"; readonly index: number; readonly text: string }
  | { readonly type: "call-start"; readonly index: number; readonly tool: string }
  /** A piece of a call's arguments, as text. Nothing may be read into it before the part has ended. */
  | { readonly type: "call-delta"; readonly index: number; readonly text: string }
  | { readonly type: "part-end"; readonly index: number; readonly part: ResponsePart }
  /** Everything counted so far; a later one replaces an earlier one. */
  | { readonly type: "usage"; readonly usage: TokenUsage }
  /** The model that answers, as the server calls it, and the id it gave the answer. */
  | { readonly type: "answering"; readonly model?: string; readonly id?: string }
  /** The answer is complete. A stream that ends without one was cut. */
  | { readonly type: "finish"; readonly reason: FinishReason; readonly raw?: string }
  /** The server reports an error in place of the rest. */
  | { readonly type: "problem"; readonly error: ApiError }
  /** The stream contradicts itself: what it says cannot be trusted. */
  | { readonly type: "broken"; readonly what: string }
  /** Something this version does not know, or that has no place in a message. Counted, never fatal. */
  | { readonly type: "skipped"; readonly what: string };

/** A part of an answer, whole. */
export type ResponsePart = Text | Thinking | Code | NewCall | GeneratedFile;

/** A file the model made, before its bytes are stored. */
export type GeneratedFile = { readonly type: "file"; readonly mimeType: string; readonly data: string };

/** Why a model stopped. */
export type FinishReason =
  /** It said all it wanted to. */
  | "stop"
  /** It waits for the results of its calls. */
  | "calls"
  /** The answer reached its limit. */
  | "length"
  /** The context window is full. */
  | "context"
  /** A filter stopped the prompt or the answer. */
  | "filtered"
  /** The model declined to answer. */
  | "refused"
  /** The server paused a long answer; the same conversation continues it. */
  | "paused"
  /** The model tried to call a tool and wrote something unreadable. */
  | "malformed"
  | "other";

/** Tokens, counted the same way for every provider. Fields are whole numbers, never negative. */
export type TokenUsage = {
  /** All of the prompt, cached or not. */
  readonly input: number;
  /** The share of `input` read from the provider's cache. */
  readonly cachedRead: number;
  /** The share of `input` written to the provider's cache. */
  readonly cachedWrite: number;
  /** All of the answer, reasoning included. */
  readonly output: number;
  /** The share of `output` spent on reasoning. */
  readonly reasoning: number;
  /** The share of `input` that the provider's own tools read, where it tells. */
  readonly toolUse?: number;
  /** The share of `input` by modality, where the provider tells. */
  readonly inputBy?: { readonly [modality in UsageModality]?: number };
};

/** What tokens can stand for. */
export type UsageModality = "text" | "image" | "document" | "audio" | "video";

/** An error as a server put it. */
export type ApiError = {
  readonly message: string;
  /** The vendor's name for it: an error type, code or status, whichever tells most. */
  readonly code?: string;
  /** The status the server gives it, where it says one inside the body. */
  readonly status?: number;
  /** The field it complains about. */
  readonly param?: string;
  /** How long the server asks to wait, in milliseconds. */
  readonly retryAfter?: number;
  /** The finer reasons some vendors attach, verbatim: quota ids, error codes, exception names. */
  readonly reasons?: readonly string[];
};

/** Reads a stream: a pure fold over its frames. */
export type StreamFold<State> = {
  readonly start: State;
  readonly step: (state: State, frame: StreamFrame) => readonly [State, readonly ResponseEvent[]];
  /** What remains to be said when the stream is over. No `finish` here or before means it was cut. */
  readonly end: (state: State) => readonly ResponseEvent[];
};

/** How one API family answers. */
export type ResponseDecoder<Dialect> = {
  /** A reader for one stream. */
  readonly open: (dialect: Dialect) => StreamDecoder;
  /** A whole answer as the frames that would have streamed it. */
  readonly frames: (body: unknown) => readonly StreamFrame[];
  /** The error a body or frame reports, if it reports one. */
  readonly parseError: (body: unknown) => ApiError | undefined;
};

/** A stream being read. */
export type StreamDecoder = {
  readonly step: (frame: StreamFrame) => readonly ResponseEvent[];
  readonly end: () => readonly ResponseEvent[];
};

/** A reader that keeps a fold's state between frames. */
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

/** A count as a server gives it, made safe: whole, not negative, 0 for anything else. */
export const toTokenCount = (value: unknown): number =>
  typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
