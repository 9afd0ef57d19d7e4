import { NetError, type HttpRequest, type HttpResponse } from "../../world/net.ts";
import type { World } from "../../world/world.ts";
import type { BoundWire } from "../../wire/bind.ts";
import type { ResponseEvent } from "../../wire/decode/events.ts";
import type { AttemptEvent, ContentEvent } from "../events.ts";
import type { RetryPolicy } from "../retry/policy.ts";
import { classifyError, type ReportedError, type ProviderIdentity } from "../retry/classify.ts";
import {
  createEventStreamParser,
  MalformedStreamError,
  createSseParser,
  createJsonBodyParser,
  type ParsedFrames,
  type FrameParser,
} from "./frames.ts";
import { toAttemptError, AttemptError, readErrorResponse } from "../retry/attempt-error.ts";
import { TimeoutWatchdog } from "./timeouts.ts";

/** Options of one attempt. */
export type AttemptOptions = {
  readonly world: Pick<World, "net" | "clock">;
  readonly request: HttpRequest;
  /** The number of the attempt, from 1. */
  readonly number: number;
  readonly wire: BoundWire;
  readonly who: ProviderIdentity;
  readonly policy: RetryPolicy;
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends a request once and decodes the response stream; yields the events of each chunk together. Ends after `finish`;
 * throws an `AttemptError` if there is none. The connection is closed or returned to the pool by the time it ends, in any
 * case.
 */
export const sendAttempt = async function* (options: AttemptOptions): AsyncGenerator<readonly AttemptEvent[], void> {
  const { world, request, number, who, policy, signal, wire } = options;
  const watch = new TimeoutWatchdog(world.clock, policy, signal);
  let isRead = false;
  let isFinished = false;
  try {
    const responding = world.net.send(request, watch.signal);
    responding.catch(() => undefined);
    await request.ready;
    signal?.throwIfAborted();
    watch.progress("headers");
    yield [{ type: "request", attempt: number, url: request.url, bytes: request.body?.length ?? 0 }];
    const response = await responding;
    watch.progress("firstByte");
    const errorResponse = await readErrorResponse(response, { wire, who, clock: world.clock });
    if (errorResponse !== undefined) throw errorResponse;
    const decoder = wire.decode.open();
    const parser = await frameParserFor(response, wire);
    const decode = ({ frames, error }: ParsedFrames): DecodedFrames => {
      const decoded = decodeFrames(frames, decoder.step, who);
      return decoded.error === undefined && error !== undefined ? { ...decoded, error } : decoded;
    };
    // One generator for all of it: every further one would take several turns of the queue per chunk.
    try {
      for await (const chunk of response.body) {
        watch.progress("idle");
        const parsed = parser.push(chunk);
        if (isFinished && parsed.frames.length > 0) {
          yield [{ type: "skipped", what: "something after the end of the answer" }];
          break;
        }
        const { events, error, ...decoded } = decode(parsed);
        if (decoded.isFinished && !isFinished) watch.startGracePeriod();
        isFinished ||= decoded.isFinished;
        if (events.length > 0) yield events;
        if (error !== undefined) throw error;
      }
      if (!isFinished) {
        const { events, error, ...decoded } = decode(parser.end());
        isFinished = decoded.isFinished;
        if (events.length > 0) yield events;
        if (error !== undefined) throw error;
      }
    } catch (error) {
      // Errors after the end of a response do not matter.
      if (!isFinished || error instanceof AttemptError) throw error;
    }
    if (!isFinished) {
      const { events, error, ...decoded } = decodeFrames([undefined], decoder.end, who);
      isFinished = decoded.isFinished;
      if (events.length > 0) yield events;
      if (error !== undefined) throw error;
    }
    if (!isFinished) throw new NetError("broken", "");
    isRead = true;
  } catch (error) {
    throw toAttemptError(error, who, request);
  } finally {
    watch.stop(isRead);
  }
};

/** The events decoded before an error, and the error, if any. */
type DecodedFrames = {
  readonly events: readonly ContentEvent[];
  readonly isFinished: boolean;
  readonly error?: unknown;
};

const decodeFrames = <Given>(
  input: readonly Given[],
  step: (one: Given) => readonly ResponseEvent[],
  who: ProviderIdentity,
): DecodedFrames => {
  const events: ContentEvent[] = [];
  let isFinished = false;
  for (const one of input)
    for (const event of step(one)) {
      if (event.type === "error") {
        const reported: ReportedError = { apiError: event.error };
        return { events, isFinished, error: new AttemptError(classifyError(who, reported), reported) };
      }
      if (event.type === "malformed") return { events, isFinished, error: new MalformedStreamError(event.what) };
      isFinished ||= event.type === "finish";
      events.push(event);
    }
  return { events, isFinished };
};

/** Chooses the frame parser by content type. */
const frameParserFor = async (response: HttpResponse, wire: BoundWire): Promise<FrameParser> => {
  const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/vnd.amazon.eventstream") return createEventStreamParser();
  if (type === "application/json") return createJsonBodyParser(wire.decode.frames);
  if (type === "text/html") throw new MalformedStreamError("It is a web page, not the answer of an API.");
  return wire.id === "bedrock" ? createEventStreamParser() : createSseParser();
};
