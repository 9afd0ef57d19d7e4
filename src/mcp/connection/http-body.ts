import type { HttpRequest, HttpResponse } from "../../world/net.ts";
import type { Clock, World } from "../../world/world.ts";
import { maxFrameLength } from "./frames.ts";
import { Throttle } from "./throttle.ts";

/**
 * Limits the body of a response: a response, or each event of a stream, is at most as long as the longest message; one
 * that pauses too long ends; one that floods is throttled. A stream that answers no request may be silent for any time.
 */
export const limitBody = (
  response: HttpResponse,
  { method, body }: Pick<HttpRequest, "method" | "body">,
  { world, maxPause, stop: cancel }: BodyOptions,
): ReadableStream<Uint8Array> => {
  const isStream = (response.headers["content-type"] ?? "").toLowerCase().startsWith("text/event-stream");
  const longestPause = method === "GET" && isStream ? undefined : maxPause;
  const whole = limitPauses(response.body, world.clock, longestPause);
  const chunks = limitSize(whole, { isStream, throttle: new Throttle(world.clock), requests: () => requestIds(body) });
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = await chunks.next();
        if (next.done === true) controller.close();
        else controller.enqueue(next.value);
      } catch (error) {
        cancel();
        controller.error(error);
      }
    },
    cancel,
  });
};

export type BodyOptions = {
  readonly world: Pick<World, "clock">;
  /** Milliseconds a response may pause. */
  readonly maxPause: number;
  /** Closes the connection. */
  readonly stop: () => void;
};

type BodyLimits = {
  readonly isStream: boolean;
  readonly throttle: Throttle;
  /** The ids of the requests this response answers. */
  readonly requests: () => readonly (string | number)[];
};

const limitSize = async function* (
  body: AsyncIterable<Uint8Array>,
  { isStream, throttle, requests }: BodyLimits,
): AsyncGenerator<Uint8Array> {
  let length = 0;
  for await (const chunk of body) {
    const events = isStream ? countEvents(chunk) : 0;
    length = events > 0 ? 0 : length + chunk.length;
    if (length > maxFrameLength) {
      const ids = isStream ? requests() : [];
      if (ids.length === 0) throw new Error(tooLong);
      // The client takes the end of a stream for a pause and waits: the requests are answered here in the server's
      // place.
      yield Buffer.from(`\n\n${ids.map((id) => `data: ${errorResponse(id)}\n\n`).join("")}`);
      return;
    }
    yield chunk;
    await throttle.take({ bytes: chunk.length, messages: events });
  }
};

const tooLong = `The server's response is longer than ${maxFrameLength / 2 ** 20} MB.`;

const errorResponse = (id: string | number): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code: -32_603, message: tooLong } });

const requestIds = (body: HttpRequest["body"]): readonly (string | number)[] => {
  try {
    const sent: unknown = JSON.parse(typeof body === "string" ? body : Buffer.from(body ?? []).toString());
    return [sent].flat().flatMap((each) => {
      const id: unknown = typeof each === "object" && each !== null && "id" in each ? each.id : undefined;
      return typeof id === "string" || typeof id === "number" ? [id] : [];
    });
  } catch {
    return [];
  }
};

/** Counts empty lines. One that is split between chunks is not counted, which only makes the limit stricter. */
const countEvents = (chunk: Uint8Array): number => {
  let count = 0;
  for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) {
    const next = chunk[at + 1] === 13 ? chunk[at + 2] : chunk[at + 1];
    if (next === 10) count += 1;
  }
  return count;
};

const limitPauses = async function* (
  body: AsyncIterable<Uint8Array>,
  clock: Clock,
  longestPause: number | undefined,
): AsyncGenerator<Uint8Array> {
  if (longestPause === undefined) return yield* body;
  const chunks = body[Symbol.asyncIterator]();
  for (;;) {
    const next = await withPauseLimit(chunks.next(), clock, longestPause);
    if (next.done === true) return;
    yield next.value;
  }
};

/** Waits for work at most this long. */
export const withPauseLimit = <Result>(work: Promise<Result>, clock: Clock, ms: number): Promise<Result> =>
  new Promise((resolve, reject) => {
    const inTime = clock.after(ms, () =>
      reject(new Error(`The server's response stopped for ${Math.round(ms / 1000)} s.`)),
    );
    work.then(resolve, reject).finally(inTime);
  });
