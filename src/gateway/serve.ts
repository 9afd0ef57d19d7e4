import type { IncomingMessage, ServerResponse } from "node:http";
import { safeHeaders } from "../http/answer.ts";
import { isLoopback, loopbackHosts, refuseRequest } from "../http/request-guard.ts";
import { listen } from "../http/listen.ts";
import { discardRequestBody, readRequestBody } from "../http/request-body.ts";
import type { HttpHeaders } from "../world/net.ts";
import { apiOfPath } from "./endpoints.ts";
import { encodeFailure, type Gateway } from "./gateway.ts";
import type { GatewayResponse, StreamedBody } from "./http-types.ts";

/** A gateway that listens. */
export type RunningGateway = {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Ends all connections and resolves when the port is free. */
  readonly close: () => Promise<void>;
};

export type ServeGatewayOptions = {
  /** Default: a free port. */
  readonly port?: number;
  /** Default: loopback. */
  readonly host?: string;
  /** Names by which clients reach it, besides those of the loopback interface. */
  readonly hosts?: readonly string[];
  /** Milliseconds of silence after which a stream gets a sign of life. */
  readonly pingInterval?: number;
  /** Milliseconds for the head of a request, and for all of it. */
  readonly headTime?: number;
  readonly requestTime?: number;
};

/** Serves a gateway over HTTP. Requests must name this address as their host, and pages of other origins are refused. */
export const serveGateway = async (gateway: Gateway, options: ServeGatewayOptions = {}): Promise<RunningGateway> => {
  const { port = 0, host = "127.0.0.1", hosts = [], pingInterval = 15_000, headTime, requestTime } = options;
  let known: readonly string[] = [];
  const { port: own, close } = await listen(
    (request, response) => {
      void answer(gateway, { request, response, hosts: known, pingInterval });
    },
    {
      host,
      port,
      connections: gateway.limits.requests * 4,
      idleTime: idleConnectionTime,
      ...(headTime === undefined ? {} : { headTime }),
      ...(requestTime === undefined ? {} : { requestTime }),
    },
  );
  known = [
    ...loopbackHosts(own),
    ...(isLoopback(host) ? [] : [`${host}:${own}`]),
    ...hosts.flatMap((name) => [name.toLowerCase(), `${name.toLowerCase()}:${own}`]),
  ];
  return { url: `http://${host.includes(":") ? `[${host}]` : host}:${own}`, port: own, close: () => close() };
};

/**
 * Longer than clients keep an idle connection: 5 s in Python's httpx, 90 s in Go and in Rust's reqwest (Codex). A server that closes
 * first may do so just as a request is sent, and the client gets a reset connection in place of a response.
 */
const idleConnectionTime = 120_000;

type IncomingExchange = {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly hosts: readonly string[];
  readonly pingInterval: number;
};

const answer = async (gateway: Gateway, exchange: IncomingExchange): Promise<void> => {
  const { request, response, hosts } = exchange;
  const gone = new AbortController();
  // An abort after a complete response would only cost time: nothing is left to cancel.
  response.once("close", () => {
    if (!response.writableFinished) gone.abort(clientGone);
  });
  response.on("error", () => gone.abort(clientGone));
  try {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://gateway");
    const headers = headersOf(request);
    const refusal = refuseRequest(request, { hosts, methods: ["GET", "POST", "HEAD"] });
    const answered =
      refusal === undefined
        ? await gateway.handle({
            method: request.method ?? "GET",
            path: pathname,
            query: searchParams,
            headers,
            body: () => readRequestBody(request, { bytes: gateway.limits.bodyBytes, types: ["application/json"] }),
            signal: gone.signal,
          })
        : await encodeFailure(
            apiOfPath(pathname, headers),
            refusal.status === 405
              ? { kind: "bad-method", method: request.method ?? "", allowed: "POST" }
              : { kind: "forbidden", detail: refusal.message },
            "refused",
          );
    // A sender without a right to be here does not hold a connection for that long.
    if (!request.complete || answered.status === 401 || answered.status === 403)
      response.setHeader("connection", "close");
    await write(exchange, answered, gone.signal, gateway.limits.bodyBytes);
  } catch {
    // The target or the client broke the connection in the middle of a stream.
    response.destroy();
  }
};

const clientGone = new Error("The client is gone.");

const headersOf = ({ headers }: IncomingMessage): HttpHeaders =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );

/** Writes a response. After a refusal that came before the end of the request, up to `bytes` of its rest are read and dropped. */
const write = async (
  { request, response, pingInterval }: IncomingExchange,
  { status, headers, body }: GatewayResponse,
  gone: AbortSignal,
  bytes: number,
): Promise<void> => {
  if (typeof body === "string" || body instanceof Uint8Array) {
    response.writeHead(status, { ...safeHeaders, ...headers, "content-length": Buffer.byteLength(body) });
    response.write(body);
    await discardRequestBody(request, { bytes, milliseconds: discardTime });
    response.end();
    return;
  }
  response.writeHead(status, { ...safeHeaders, ...headers, "x-accel-buffering": "no" });
  response.socket?.setNoDelay(true);
  await writeStream(response, body, gone, pingInterval);
};

/** Milliseconds for the rest of a refused request. */
const discardTime = 5000;

/** Writes a stream as fast as the client reads it: the next chunk is fetched once there is room for it. */
const writeStream = async (
  response: ServerResponse,
  { chunks, ping }: StreamedBody,
  gone: AbortSignal,
  pingInterval: number,
): Promise<void> => {
  let isQuiet = true;
  const timer = setInterval(() => {
    if (isQuiet && ping !== undefined && !response.writableNeedDrain) response.write(ping());
    isQuiet = true;
  }, pingInterval);
  timer.unref();
  // The first content mostly waits already, and is then sent together with the headers.
  let isBegun = false;
  setImmediate(() => {
    if (!isBegun && !response.destroyed) response.flushHeaders();
  });
  // The client may leave while it does not read.
  const left = new Promise<"left">((resolve) => gone.addEventListener("abort", () => resolve("left"), { once: true }));
  try {
    for (;;) {
      // The signal of a client that is gone ends the request to the target, and thereby this wait.
      const next = await chunks.next();
      if (gone.aborted) return;
      if (next.done === true) break;
      if (next.value.length === 0) continue;
      isQuiet = false;
      isBegun = true;
      if (!response.write(next.value) && (await waitForDrain(response, left)) === "left") return;
    }
    isBegun = true;
    response.end();
  } finally {
    clearInterval(timer);
    // Not awaited: a generator that waits for the target ends when its request is cancelled.
    void chunks.return().catch(() => undefined);
  }
};

const waitForDrain = (response: ServerResponse, left: Promise<"left">): Promise<"drain" | "left"> =>
  Promise.race([left, new Promise<"drain">((resolve) => response.once("drain", () => resolve("drain")))]);
