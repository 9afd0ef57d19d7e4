import { hostname } from "node:os";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AgentEvent } from "../agent/events.ts";
import { sendJson } from "../http/answer.ts";
import { openEventStream } from "../http/event-stream.ts";
import { listen } from "../http/listen.ts";
import {
  createToken,
  isLoopback,
  isSameSecret,
  loopbackHosts,
  readBearerToken,
  refuseRequest,
} from "../http/request-guard.ts";
import type { TakenSession } from "../postgres/ownership.ts";
import { LiveBuffer } from "./live-buffer.ts";
import { liveEventOf } from "./live-events.ts";

/** Where front doors read the live events of the sessions that a worker runs. */
export type LiveDoor = {
  /** Its address with its token, for the table of workers: only those with the database can connect. */
  readonly address: string;
  /** Offers the live events of a session, until `end`. Costs nothing while there is no reader. */
  readonly openSession: (session: TakenSession) => LiveOutlet;
  readonly close: () => Promise<void>;
};

/** Publishes the live events of one session. */
export type LiveOutlet = {
  /** Publishes an event that came after the record with this sequence number. Records are not published here. */
  readonly publish: (event: AgentEvent, sequence: number) => void;
  readonly end: () => void;
};

/**
 * Opens a door for live events: plain HTTP, on loopback and a free port unless an address is named. The address is the
 * one that front doors connect to.
 */
export const openLiveDoor = async ({
  host = "127.0.0.1",
  port = 0,
}: { readonly host?: string; readonly port?: number } = {}): Promise<LiveDoor> => {
  const token = createToken();
  const sessions = new Map<string, Set<LiveBuffer>>();
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refusal = refuseRequest(request, { hosts, methods: ["GET"] });
    if (refusal !== undefined) return sendJson(response, refusal.status, { error: refusal.message });
    if (!isSameSecret(readBearerToken(request) ?? "", token))
      return sendJson(response, 401, { error: "Wrong token." }, { "www-authenticate": "Bearer" });
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://worker");
    const readers = sessions.get(keyOf(searchParams.get("tenant"), searchParams.get("session")));
    if (pathname !== livePath || readers === undefined)
      return sendJson(response, 404, { error: "This worker does not run such a session." });
    await sendLive(response, readers);
  };
  const listening = await listen(
    (request, response) => void answer(request, response).catch(() => response.destroy()),
    { host, port },
  );
  const name = host.includes(":") ? `[${host}]` : host;
  const hosts = isLoopback(host) ? loopbackHosts(listening.port) : [`${name}:${listening.port}`.toLowerCase()];
  return {
    address: formatAddress({ url: `http://${name}:${listening.port}`, token, machine: hostname() }),
    openSession: ({ tenant, id, fence }) => {
      const key = keyOf(tenant, id);
      const readers = new Set<LiveBuffer>();
      sessions.set(key, readers);
      return createOutlet(readers, fence, () => {
        if (sessions.get(key) === readers) sessions.delete(key);
      });
    },
    close: () => listening.close(),
  };
};

const createOutlet = (readers: ReadonlySet<LiveBuffer>, fence: number, onEnd: () => void): LiveOutlet => {
  let last = { sequence: 0, number: 0 };
  return {
    publish: (agentEvent, sequence) => {
      if (readers.size === 0) return;
      const event = liveEventOf(agentEvent);
      if (event === undefined) return;
      last = { sequence, number: last.sequence === sequence ? last.number + 1 : 1 };
      for (const reader of readers) reader.push({ fence, ...last, event });
    },
    end: () => {
      onEnd();
      for (const reader of readers) reader.end();
    },
  };
};

/** Sends live events until the session is given back or the reader is gone. A slow reader misses some. */
const sendLive = async (response: ServerResponse, readers: Set<LiveBuffer>): Promise<void> => {
  const stream = openEventStream(response);
  const buffer = new LiveBuffer();
  stream.signal.addEventListener("abort", () => buffer.end(), { once: true });
  readers.add(buffer);
  try {
    while (!stream.signal.aborted) {
      const item = buffer.shift();
      if (item !== undefined) await stream.send({ data: JSON.stringify(item) });
      else if (buffer.isEnded) return;
      else await buffer.arrival();
    }
  } finally {
    readers.delete(buffer);
    stream.end();
  }
};

/** The path of a session's live events. */
export const livePath = "/live";

const keyOf = (tenant: string | null, id: string | null): string => JSON.stringify([tenant, id]);

/** The parts of a worker's address. */
export type LiveAddress = {
  readonly url: string;
  readonly token: string;
  /** The name of its machine: a loopback address means something only there. */
  readonly machine: string;
};

const formatAddress = ({ url, token, machine }: LiveAddress): string => {
  const address = new URL(url);
  address.password = token;
  address.hash = encodeURIComponent(machine);
  return address.href;
};

/** Reads a worker's address; undefined if it is none that this machine can use. */
export const parseLiveAddress = (text: string): Pick<LiveAddress, "url" | "token"> | undefined => {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  if (address === undefined || address.protocol !== "http:" || address.password === "") return undefined;
  const isHere = decodeURIComponent(address.hash.slice(1)) === hostname();
  if (isLoopback(address.hostname.replaceAll(/[[\]]/g, "")) && !isHere) return undefined;
  return { url: address.origin, token: address.password };
};
