import type { JsonObject } from "../../conversation/json.ts";
import type { NewPart } from "../../conversation/ledger.ts";
import type { TransportEvent } from "../../transport/events.ts";
import type { Transport } from "../../transport/transport.ts";
import { ResponseBuilder, type DecodedResponse } from "../../wire/decode/response-builder.ts";
import type { Destination } from "../../wire/bind.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { Clock } from "../../world/world.ts";
import type { AgentEvent } from "../events.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import type { ConfirmContinue } from "../options.ts";
import { RepeatedTextDetector } from "../turn/repetition.ts";
import { ThoughtSubjectParser } from "../turn/thought-subject.ts";
import type { RequestBuilder, RenderedRequest } from "./builder.ts";

/**
 * Milliseconds for which a request has the event loop to itself. Connecting and writing take several turns of the loop;
 * work that takes tens of milliseconds, such as loading the tools or hashing the request, would delay it and starts
 * only then. The system tells when a request is handed to a socket, not when it was written, so this is a time.
 */
export const requestHeadStartMs = 30;

/** One request of a conversation. */
export type ModelRequestOptions = {
  readonly transport: Transport;
  readonly builder: RequestBuilder;
  readonly model: ModelRef;
  readonly settings: RequestSettings;
  /** The number of the request in the conversation, from 1. */
  readonly number: number;
  /** Resolves once the conversation is on disk; nothing is sent before. */
  readonly committed: Promise<void>;
  readonly clock: Pick<Clock, "after">;
  /** The session and the prompt the request belongs to, for APIs that ask for them. */
  readonly sessionId?: string | undefined;
  readonly promptId?: string | undefined;
  readonly confirm?: ConfirmContinue | undefined;
  readonly emit: (event: AgentEvent) => void;
  readonly signal: AbortSignal;
};

/** A complete response, with tools under our own names. `isRepeating` if it was stopped because it repeated itself. */
export type ModelResponse = Pick<DecodedResponse, "blobs" | "finish" | "usage"> & {
  readonly parts: readonly NewPart[];
  readonly request: RenderedRequest;
  readonly isRepeating: boolean;
  /** The model the request was sent to. */
  readonly model: ModelRef;
  /** The model that answered, as its server names it. */
  readonly answeredBy?: string;
};

/** A response that ended early, with the text received so far. Its cause is the error that ended it. */
export class StreamInterruptedError extends Error {
  readonly text: string;
  readonly request: RenderedRequest | undefined;

  constructor(text: string, request: RenderedRequest | undefined, cause: unknown) {
    super("The response was interrupted.", { cause });
    this.text = text;
    this.request = request;
  }
}

/** Sends the conversation as it is now to a model, and emits its response as it arrives. Throws a `StreamInterruptedError`. */
export const sendModelRequest = async (options: ModelRequestOptions): Promise<ModelResponse> => {
  const { transport, builder, model, sessionId, promptId, committed, clock, signal } = options;
  const settings = { ...options.settings, stream: true };
  const response = new ResponseBuilder();
  // The first request, and one for each repair by the transport.
  const built: RenderedRequest[] = [];
  let isRepeating: boolean;
  const rebuild = (destination: Destination): JsonObject => {
    const request = builder.build(destination, settings);
    built.push(request);
    return request.body;
  };
  // The digest is needed with the response; it is computed while that is awaited.
  const cancelDigest = clock.after(requestHeadStartMs, () => void built.at(-1)?.digest());
  try {
    const body = rebuild(transport.destination(model));
    const events = transport.send(
      { ...model, session: sessionId, prompt: promptId, ready: committed, body, rebuild },
      signal,
    );
    isRepeating = await readResponse(events, response, built, options);
  } catch (error) {
    throw new StreamInterruptedError(response.partialText, built.at(-1), error);
  } finally {
    cancelDigest();
  }
  const answer = isRepeating ? repeatingAnswer(response.partialText) : response.build();
  const request = built.at(-1);
  if (request === undefined || answer === undefined) throw new Error("The transport ended without an answer.");
  return {
    ...answer,
    request,
    isRepeating,
    model,
    ...(answer.model === undefined ? {} : { answeredBy: answer.model }),
    parts: answer.parts.map((part) => withOriginalNames(part, request)),
  };
};

/** Reads a response to its end. True if it was stopped because it repeats itself. */
const readResponse = async (
  events: AsyncIterable<TransportEvent>,
  response: ResponseBuilder,
  built: readonly RenderedRequest[],
  options: ModelRequestOptions,
): Promise<boolean> => {
  const subjects = new ThoughtSubjectParser();
  let repetition: RepeatedTextDetector | undefined = new RepeatedTextDetector();
  for await (const event of events) {
    if (isAnswerEvent(event)) response.add(event);
    emitTransportEvent(event, built.at(-1), subjects, options);
    if (event.type !== "text-delta" || repetition?.add(event.text) !== true) continue;
    if ((await options.confirm?.(repetitionQuestion, options.signal)) !== true) return true;
    // The person lets this answer continue and is not asked about it again.
    repetition = undefined;
  }
  return false;
};

const repetitionQuestion = "The answer has repeated the same text for thousands of characters. Let it continue?";

const repeatingAnswer = (text: string): DecodedResponse => ({
  parts: [{ type: "text", text }],
  blobs: {},
  finish: "other",
  skipped: 0,
});

const withOriginalNames = (part: NewPart, { originalTool, originalInput }: RenderedRequest): NewPart => {
  if (part.type !== "call") return part;
  const tool = originalTool(part.tool);
  return { ...part, tool, input: originalInput(tool, part.input) };
};

type AnswerBuilderEvent = Parameters<ResponseBuilder["add"]>[0];

const isAnswerEvent = (event: TransportEvent): event is TransportEvent & AnswerBuilderEvent =>
  event.type !== "request" && event.type !== "retrying" && event.type !== "repaired";

/** Emits the parts of a response that front ends show while it streams. */
const emitTransportEvent = (
  event: TransportEvent,
  request: RenderedRequest | undefined,
  subjects: ThoughtSubjectParser,
  { emit, model, number, promptId }: ModelRequestOptions,
): void => {
  switch (event.type) {
    case "text-delta":
      return emit({ type: "text", text: event.text });
    case "thinking-delta":
      return emit({ type: "thought", ...subjects.add(event.text) });
    case "request": {
      if (request === undefined) return;
      const { attempt, url, bytes } = event;
      const info = { number, model: modelName(model), url, bytes, attempt };
      const { report } = request;
      return emit({ type: "request", request: promptId === undefined ? info : { ...info, promptId }, report });
    }
    case "retrying":
      return emit({ type: "retrying", failure: event.failure, delay: event.delay, discarded: false });
    case "repaired":
      return emit({ type: "notice", text: event.message });
    case "call-start":
    case "call-delta":
    case "part-end":
    case "usage":
    case "response-start":
    case "finish":
    case "skipped":
  }
};
