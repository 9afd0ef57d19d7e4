import { createServer as createHttp, type IncomingMessage, type ServerResponse } from "node:http";
import { constants, createServer as createHttp2, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { createGzip } from "node:zlib";
import { NetError, type HttpHeaders, type HttpRequest, type HttpResponse } from "../world/net.ts";
import type { Simulator } from "./simulator.ts";

/** A simulator listening on a local port. */
export type RunningSimulator = {
  /** Without a trailing slash. */
  readonly url: string;
  /** Closes every connection, and resolves when the port is free. */
  readonly close: () => Promise<void>;
};

/** Where to listen. Default: a free port. */
export type ServeOptions = { readonly port?: number; readonly host?: string };

/**
 * Serves a simulator over HTTP, or several by path prefix (`{ "/openai": ... }`). Speaks HTTP/1.1 and HTTP/2 without
 * TLS, which is AWS's default, on one port.
 */
export const serve = async (
  simulators: Simulator | { readonly [prefix: string]: Simulator },
  { port = 0, host = "127.0.0.1" }: ServeOptions = {},
): Promise<RunningSimulator> => {
  const find = createFinder(simulators);
  const sockets = new Set<Socket>();
  const http = createHttp((request, response) => {
    void respond(find, request, response, () => request.socket.resetAndDestroy());
  });
  const http2 = createHttp2((request, response) => {
    void respond(find, request, response, () => response.stream.close(constants.NGHTTP2_INTERNAL_ERROR));
  });
  // No Nagle delay: stream chunks are small, and each would wait for the acknowledgement of the one before.
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.once("data", (first) => {
      socket.pause();
      socket.unshift(first);
      if (first.toString("latin1", 0, 3) === "PRI") {
        // HTTP/2 takes over the connection, including the bytes already read.
        http2.emit("connection", socket);
      } else {
        http.emit("connection", socket);
        socket.resume();
      }
    });
  });
  http2.on("sessionError", () => undefined);

  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `http://${host.includes(":") ? `[${host}]` : host}:${taken}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
};

type FindSimulator = (path: string) => { readonly simulator: Simulator; readonly prefix: string } | undefined;

/** The longest matching prefix wins. */
const createFinder = (simulators: Simulator | { readonly [prefix: string]: Simulator }): FindSimulator => {
  if (isSimulator(simulators)) return () => ({ simulator: simulators, prefix: "" });
  const entries = Object.entries(simulators).toSorted(([one], [other]) => other.length - one.length);
  return (path) => {
    const found = entries.find(([prefix]) => path === prefix || path.startsWith(`${prefix}/`));
    return found === undefined ? undefined : { prefix: found[0], simulator: found[1] };
  };
};

const isSimulator = (value: Simulator | { readonly [prefix: string]: Simulator }): value is Simulator =>
  "handle" in value && typeof value.handle === "function";

type HttpIncoming = IncomingMessage | Http2ServerRequest;
type HttpOutgoing = ServerResponse | Http2ServerResponse;

/** Answers one HTTP request. `reset` aborts the connection as a network failure would. */
const respond = async (
  find: FindSimulator,
  incoming: HttpIncoming,
  outgoing: HttpOutgoing,
  reset: () => void,
): Promise<void> => {
  const gone = new AbortController();
  outgoing.on("close", () => gone.abort());
  outgoing.on("error", () => gone.abort());
  try {
    if (!isOwnHost(incoming)) {
      outgoing.writeHead(403, { "content-type": "text/plain" });
      outgoing.end("Only requests to this machine by its own name are answered.\n");
      return;
    }
    const request = await readRequest(incoming);
    const found = find(new URL(request.url).pathname);
    if (found === undefined || (incoming.method !== "GET" && incoming.method !== "POST")) {
      outgoing.writeHead(404, { "content-type": "text/plain" });
      outgoing.end("There is no API here.\n");
      return;
    }
    await writeResponse(await found.simulator.handle(request, gone.signal, found.prefix), outgoing, gone.signal);
  } catch (error) {
    if (gone.signal.aborted || error instanceof NetError || outgoing.headersSent) reset();
    else respondWithError(error, outgoing);
  }
};

/**
 * Protects against DNS rebinding: a web page can point its own host name at our address, and the browser then sends
 * that name as host.
 */
const isOwnHost = ({ headers, socket }: HttpIncoming): boolean => {
  if (!/^(127\.|::1$|::ffff:127\.)/.test(socket.localAddress ?? "")) return true;
  const host = String(headers[":authority"] ?? headers.host ?? "");
  return /^(127\.\d+\.\d+\.\d+|localhost|[a-z\d.-]+\.localhost|\[::1\])(:\d+)?$/i.test(host);
};

/** Reports an internal error of the simulator as such, so that it is not mistaken for a client error. */
const respondWithError = (error: unknown, outgoing: HttpOutgoing): void => {
  outgoing.writeHead(500, { "content-type": "text/plain" });
  outgoing.end(`The simulator failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
};

const readRequest = async (incoming: HttpIncoming): Promise<HttpRequest> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Uint8Array);
  const host = incoming.headers[":authority"] ?? incoming.headers.host ?? "localhost";
  const headers: HttpHeaders = Object.fromEntries(
    Object.entries(incoming.headers)
      .filter(([name]) => !name.startsWith(":"))
      .map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : (value ?? "")]),
  );
  return {
    method: incoming.method === "GET" ? "GET" : "POST",
    url: `http://${host.toString()}${incoming.url ?? "/"}`,
    headers,
    ...(chunks.length === 0 ? {} : { body: Buffer.concat(chunks) }),
  };
};

const writeResponse = async (
  { status, headers, body }: HttpResponse,
  outgoing: HttpOutgoing,
  gone: AbortSignal,
): Promise<void> => {
  const response = outgoing as ServerResponse;
  response.writeHead(status, headers);
  response.flushHeaders();
  let flushed = Promise.resolve();
  const left = whenAborted(gone);
  try {
    for await (const chunk of headers["content-encoding"] === "gzip" ? gzipBody(body) : body) {
      let isFull = false;
      flushed = new Promise((resolve) => (isFull = !response.write(chunk, () => resolve())));
      if (isFull) await Promise.race([flushed, left]);
      gone.throwIfAborted();
    }
  } catch (error) {
    // Flush what was written before breaking the connection.
    await Promise.race([flushed, left]);
    throw error;
  }
  response.end();
};

const whenAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });

/** Compresses the body. Where the body breaks, the compressed data ends early without an error. */
async function* gzipBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip();
  const flushed = (): Promise<void> => new Promise((resolve) => gzip.flush(() => resolve()));
  try {
    for await (const chunk of body) {
      gzip.write(chunk);
      await flushed();
      yield* readAvailable(gzip);
    }
  } catch (error) {
    if (error instanceof NetError && error.code === "Z_BUF_ERROR") return;
    throw error;
  }
  gzip.end();
  for await (const chunk of gzip) yield chunk as Uint8Array;
}

function* readAvailable(gzip: { read: () => Uint8Array | null }): Generator<Uint8Array> {
  for (let chunk = gzip.read(); chunk !== null; chunk = gzip.read()) yield chunk;
}
