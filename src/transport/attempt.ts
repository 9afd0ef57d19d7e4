import { bodyText, NetError, type HttpRequest, type HttpResponse, type World } from "../world/index.ts";
import type { AnswerEvent, BoundWire, Frame } from "../wire/index.ts";
import type { Patience } from "./budget.ts";
import { classify, type Reported, type Who } from "./classify.ts";
import { jsonOf } from "./credentials-http.ts";
import { eventStreamFrames, MalformedStream, sseFrames } from "./frames.ts";
import { asAttemptError, AttemptError, refusalIn } from "./refusal.ts";
import { Watchdog } from "./watchdog.ts";

/** What an answer consists of once its troubles are taken out: they are thrown. */
export type Answered = Exclude<AnswerEvent, { type: "problem" | "broken" }>;

/** Everything one attempt needs. */
export type Attempt = {
  readonly world: Pick<World, "net" | "clock">;
  readonly request: HttpRequest;
  readonly wire: BoundWire;
  readonly who: Who;
  readonly patience: Patience;
  readonly signal: AbortSignal | undefined;
};

/**
 * Sends a request once and reads the answer as it comes. Ends after `finish`;
 * throws an `AttemptError` if there is none to come. The connection is closed
 * or handed back by the time it ends, however it ends.
 */
export const attempt = async function* (given: Attempt): AsyncGenerator<Answered, void> {
  const { world, request, who, patience, signal } = given;
  const watch = new Watchdog(world.clock, patience, signal);
  try {
    const response = await world.net.send(request, watch.signal);
    watch.next("firstByte");
    yield* read(given, response, watch);
  } catch (error) {
    throw asAttemptError(error, who, request);
  } finally {
    watch.end();
  }
};

const read = async function* (
  { wire, who, world }: Attempt,
  response: HttpResponse,
  watch: Watchdog,
): AsyncGenerator<Answered, void> {
  const report = (reported: Reported): AttemptError => new AttemptError(classify(who, reported), reported);
  const refusal = await refusalIn(response, { wire, who, clock: world.clock });
  if (refusal !== undefined) throw refusal;
  const reader = wire.decode.open();
  let isFinished = false;
  const told = function* (events: readonly AnswerEvent[]): Generator<Answered> {
    for (const event of events) {
      if (event.type === "problem") throw report({ problem: event.problem });
      if (event.type === "broken") throw new MalformedStream(event.what);
      if (event.type === "finish") {
        isFinished = true;
        watch.leave();
      }
      yield event;
    }
  };
  try {
    for await (const frames of framesOf(response, wire, watch)) {
      if (isFinished) {
        yield { type: "skipped", what: "something after the end of the answer" };
        break;
      }
      for (const frame of frames) yield* told(reader.step(frame));
    }
  } catch (error) {
    // Whatever happens after the end of an answer changes nothing about it.
    if (!isFinished || error instanceof AttemptError) throw error;
  }
  if (!isFinished) yield* told(reader.end());
  if (!isFinished) throw new NetError("broken", "");
};

/** The frames of an answer: a stream in the framing it claims, or a whole body as the frames that would have streamed it. */
const framesOf = (response: HttpResponse, wire: BoundWire, watch: Watchdog): AsyncIterable<readonly Frame[]> => {
  const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  const body = watched(response.body, watch);
  if (type === "application/vnd.amazon.eventstream") return eventStreamFrames(body);
  if (type === "application/json") return wholeFrames({ ...response, body }, wire);
  if (type === "text/html") return rejecting(`It is a web page, not the answer of an API.`);
  return wire.id === "bedrock" ? eventStreamFrames(body) : sseFrames(body);
};

const wholeFrames = async function* (response: HttpResponse, wire: BoundWire): AsyncGenerator<readonly Frame[]> {
  const text = await bodyText(response, 2 ** 29);
  const body = jsonOf(text);
  if (body === undefined) throw new MalformedStream(`The body holds no valid JSON: ${text.slice(0, 80)}`);
  yield wire.decode.frames(body);
};

// oxlint-disable-next-line require-yield
const rejecting = async function* (what: string): AsyncGenerator<readonly Frame[]> {
  throw new MalformedStream(what);
};

const watched = async function* (body: AsyncIterable<Uint8Array>, watch: Watchdog): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    watch.next("idle");
    yield chunk;
  }
};
