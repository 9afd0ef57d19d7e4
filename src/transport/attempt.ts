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
 * Sends a request once and reads the answer as it comes, as much at a time as
 * each chunk of it holds. Ends after `finish`; throws an `AttemptError` if there
 * is none to come. The connection is closed or handed back by the time it ends,
 * however it ends.
 */
export const attempt = async function* (given: Attempt): AsyncGenerator<readonly Answered[], void> {
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
): AsyncGenerator<readonly Answered[], void> {
  const refusal = await refusalIn(response, { wire, who, clock: world.clock });
  if (refusal !== undefined) throw refusal;
  const reader = wire.decode.open();
  let isFinished = false;
  const tell = function* (told: Told): Generator<readonly Answered[]> {
    if (told.isFinished && !isFinished) watch.leave();
    isFinished ||= told.isFinished;
    if (told.events.length > 0) yield told.events;
    if (told.trouble !== undefined) throw told.trouble;
  };
  try {
    for await (const frames of framesOf(response, wire, watch)) {
      if (isFinished) {
        yield [{ type: "skipped", what: "something after the end of the answer" }];
        break;
      }
      yield* tell(toldBy(frames, reader.step, who));
    }
  } catch (error) {
    // Whatever happens after the end of an answer changes nothing about it.
    if (!isFinished || error instanceof AttemptError) throw error;
  }
  if (!isFinished) yield* tell(toldBy([undefined], reader.end, who));
  if (!isFinished) throw new NetError("broken", "");
};

/** What was understood before the trouble, if there was any. */
type Told = { readonly events: readonly Answered[]; readonly isFinished: boolean; readonly trouble?: Error };

const toldBy = <Given>(given: readonly Given[], step: (one: Given) => readonly AnswerEvent[], who: Who): Told => {
  const events: Answered[] = [];
  let isFinished = false;
  for (const one of given)
    for (const event of step(one)) {
      if (event.type === "problem") {
        const reported: Reported = { problem: event.problem };
        return { events, isFinished, trouble: new AttemptError(classify(who, reported), reported) };
      }
      if (event.type === "broken") return { events, isFinished, trouble: new MalformedStream(event.what) };
      isFinished ||= event.type === "finish";
      events.push(event);
    }
  return { events, isFinished };
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
