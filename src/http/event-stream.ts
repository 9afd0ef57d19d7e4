import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { safeHeaders } from "./answer.ts";

/** One server-sent event. */
type ServerSentEvent = { readonly id?: string; readonly event?: string; readonly data: string };

/** An answer of server-sent events. */
export type EventStreamResponse = {
  /** Resolves once the other side has room for more. False if it is gone. */
  readonly send: (event: ServerSentEvent) => Promise<boolean>;
  readonly end: () => void;
  /** Aborted when the other side is gone or the stream has ended. */
  readonly signal: AbortSignal;
};

/** Begins an answer of server-sent events. A comment at intervals keeps proxies from closing the connection. */
export const openEventStream = (
  response: ServerResponse,
  {
    interval = 15_000,
    headers = {},
  }: { readonly interval?: number; readonly headers?: Readonly<Record<string, string>> } = {},
): EventStreamResponse => {
  const gone = new AbortController();
  const timer = setInterval(() => response.write(": ping\n\n"), interval);
  timer.unref();
  response.once("close", () => {
    clearInterval(timer);
    gone.abort();
  });
  response.writeHead(200, {
    ...safeHeaders,
    "content-type": "text/event-stream; charset=utf-8",
    "x-accel-buffering": "no",
    ...headers,
  });
  response.flushHeaders();
  return {
    signal: gone.signal,
    send: async (event) => {
      if (gone.signal.aborted) return false;
      const hasRoom = response.write(formatEvent(event));
      // Node holds the bytes back until the next tick, and a turn may run many steps before that.
      response.socket?.uncork();
      if (!hasRoom) await once(response, "drain", { signal: gone.signal }).catch(() => undefined);
      return !gone.signal.aborted;
    },
    end: () => {
      clearInterval(timer);
      response.end();
    },
  };
};

/**
 * Formats an event. A line break in the data begins another data line, so no text can end the event early.
 *
 * @internal Exported for its tests.
 */
export const formatEvent = ({ id, event, data }: ServerSentEvent): string =>
  [
    ...(id === undefined ? [] : [`id: ${oneLine(id)}`]),
    ...(event === undefined ? [] : [`event: ${oneLine(event)}`]),
    ...data.split(/\r\n|\r|\n/).map((line) => `data: ${line}`),
    "",
    "",
  ].join("\n");

const oneLine = (text: string): string => text.replaceAll(/[\r\n\0]/g, " ");
