import { NetError, type HttpRequest, type HttpResponse } from "../world/net.ts";
import type { World } from "../world/world.ts";
import type { BoundWire } from "../wire/bind.ts";
import type { AnswerEvent } from "../wire/decode.ts";
import type { Patience } from "./budget.ts";
import { classify, type Reported, type Who } from "./classify.ts";
import { eventStreamFraming, MalformedStream, sseFraming, wholeFraming, type Framed, type Framing } from "./frames.ts";
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
  let isRead = false;
  try {
    const response = await world.net.send(request, watch.signal);
    watch.next("firstByte");
    yield* read(given, response, watch);
    isRead = true;
  } catch (error) {
    throw asAttemptError(error, who, request);
  } finally {
    watch.end(isRead);
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
  const framing = await framingOf(response, wire);
  let isFinished = false;
  const tell = function* ({ events, trouble, ...told }: Told): Generator<readonly Answered[]> {
    if (told.isFinished && !isFinished) watch.leave();
    isFinished ||= told.isFinished;
    if (events.length > 0) yield events;
    if (trouble !== undefined) throw trouble;
  };
  const take = function* ({ frames, trouble }: Framed): Generator<readonly Answered[]> {
    if (frames.length > 0) yield* tell(toldBy(frames, reader.step, who));
    if (trouble !== undefined) throw trouble;
  };
  try {
    for await (const chunk of response.body) {
      watch.next("idle");
      const framed = framing.push(chunk);
      if (isFinished && framed.frames.length > 0) {
        yield [{ type: "skipped", what: "something after the end of the answer" }];
        break;
      }
      yield* take(framed);
    }
    if (!isFinished) yield* take(framing.end());
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

/** How an answer is cut into frames: as it claims to be. */
const framingOf = async (response: HttpResponse, wire: BoundWire): Promise<Framing> => {
  const type = (response.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
  if (type === "application/vnd.amazon.eventstream") return eventStreamFraming();
  if (type === "application/json") return wholeFraming(wire.decode.frames);
  if (type === "text/html") throw new MalformedStream("It is a web page, not the answer of an API.");
  return wire.id === "bedrock" ? eventStreamFraming() : sseFraming();
};
