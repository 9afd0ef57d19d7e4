import type { NewPart } from "../../conversation/ledger.ts";
import type { Transport, TransportEvent } from "../../transport/transport.ts";
import { ResponseBuilder, type DecodedResponse } from "../../wire/decode/response-builder.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { Clock } from "../../world/world.ts";
import type { RequestBuilder, RenderedRequest } from "./builder.ts";
import type { AgentEvent } from "../events.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import { RepeatedTextDetector } from "../turn/repetition.ts";
import { ThoughtSubjectParser } from "../turn/thought-subject.ts";

/** Milliseconds a request has to leave before anything else is done. */
export const leaving = 30;

/** Asks the person whether the model should continue. */
export type ConfirmContinue = (question: string, signal: AbortSignal) => Promise<boolean>;

/** What one request needs. */
export type ModelRequestOptions = {
  readonly transport: Transport;
  readonly builder: RequestBuilder;
  readonly model: ModelRef;
  readonly settings: RequestSettings;
  /** The how-manieth request of the conversation. */
  readonly number: number;
  /** Settles when the conversation is written down; nothing leaves before. */
  readonly committed: Promise<void>;
  readonly clock: Pick<Clock, "after">;
  /** The session, and the person's prompt a request belongs to. */
  readonly sessionId?: string | undefined;
  readonly promptId?: string | undefined;
  readonly confirm?: ConfirmContinue | undefined;
  readonly emit: (event: AgentEvent) => void;
  readonly signal: AbortSignal;
};

/** What came of a request: an answer, with tools under our names; `circles` when it was left because it went in circles. */
export type ModelResponse = Pick<DecodedResponse, "blobs" | "finish" | "usage"> & {
  readonly parts: readonly NewPart[];
  readonly request: RenderedRequest;
  readonly isRepeating: boolean;
  /** Who was asked. */
  readonly model: ModelRef;
  /** Who answered, as the server calls it. */
  readonly answeredBy?: string;
};

/** An answer that broke off, and what was said of it. Its cause is what broke it. */
export class StreamInterruptedError extends Error {
  readonly text: string;
  readonly request: RenderedRequest | undefined;

  constructor(words: string, written: RenderedRequest | undefined, cause: unknown) {
    super("The answer broke off.", { cause });
    this.text = words;
    this.request = written;
  }
}

/** Sends the conversation as it is to a model, and tells of its answer as it comes. Throws `BrokenOff`. */
export const sendModelRequest = async (asking: ModelRequestOptions): Promise<ModelResponse> => {
  const { transport, builder: compositions, model, settings, committed: kept, signal } = asking;
  const builder = new ResponseBuilder();
  let repeated: RepeatedTextDetector | undefined = new RepeatedTextDetector();
  const subjects = new ThoughtSubjectParser();
  let written: RenderedRequest | undefined;
  let circles = false;
  // What will be asked for with the answer is found out while it is waited for.
  const inTime = asking.clock.after(leaving, () => void written?.digest());
  try {
    const events = transport.send(
      {
        ...model,
        session: asking.sessionId,
        prompt: asking.promptId,
        ready: kept,
        write: (destination) => (written = compositions.build(destination, { ...settings, stream: true })).body,
      },
      signal,
    );
    for await (const event of events) {
      if (written === undefined) continue;
      if (isAnswerEvent(event)) builder.add(event);
      emitTransportEvent(event, written, subjects, asking);
      if (event.type !== "text-delta" || repeated?.add(event.text) !== true) continue;
      circles = (await asking.confirm?.(repetitionQuestion, signal)) !== true;
      if (circles) break;
      // The person lets this answer continue and is not asked about it again.
      repeated = undefined;
    }
  } catch (error) {
    throw new StreamInterruptedError(builder.partialText, written, error);
  } finally {
    inTime();
  }
  const answer = circles ? repeatingAnswer(builder.partialText) : builder.build();
  if (written === undefined || answer === undefined) throw new Error("The transport ended without an answer.");
  const named = written;
  return {
    ...answer,
    request: written,
    isRepeating: circles,
    model,
    ...(answer.model === undefined ? {} : { answeredBy: answer.model }),
    parts: answer.parts.map((part) => withOriginalNames(part, named)),
  };
};

const repetitionQuestion = "The answer has repeated the same text for thousands of characters. Let it continue?";

const repeatingAnswer = (words: string): DecodedResponse => ({
  parts: [{ type: "text", text: words }],
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

/** What a front end hears of an answer on its way. */
const emitTransportEvent = (
  event: TransportEvent,
  written: RenderedRequest,
  subjects: ThoughtSubjectParser,
  { emit: tell, model, number, promptId: prompt }: ModelRequestOptions,
): void => {
  switch (event.type) {
    case "text-delta":
      return tell({ type: "text", text: event.text });
    case "thinking-delta":
      return tell({ type: "thought", ...subjects.add(event.text) });
    case "request": {
      const { attempt, url, bytes } = event;
      const { report } = written;
      const facts = { number, model: modelName(model), url, bytes, attempt };
      return tell({
        type: "request",
        request: prompt === undefined ? facts : { ...facts, promptId: prompt },
        report,
      });
    }
    case "retrying":
      return tell({ type: "retrying", failure: event.failure, delay: event.delay, discarded: false });
    case "repaired":
      return tell({ type: "notice", text: event.message });
    case "call-start":
    case "call-delta":
    case "part-end":
    case "usage":
    case "answering":
    case "finish":
    case "skipped":
  }
};
