import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex, Readable } from "node:stream";
import { NetError } from "../../world/net.ts";
import { version } from "../../world/version.ts";
import type { Clock } from "../../world/world.ts";
import { normalizeHost } from "./judge-url.ts";

/** Opens a connection to an address, and resolves once it is open. */
export type ConnectSocket = (
  to: { readonly address: string; readonly port: number },
  signal: AbortSignal,
) => Promise<Socket>;

/** The target of a redirect as the server sent it, or the content. */
type HttpExchangeResult =
  | { readonly redirect: string }
  | { readonly redirect?: undefined; readonly content: HttpExchangeContent };

type HttpExchangeContent = {
  readonly status: number;
  readonly type: string;
  readonly bytes: Uint8Array;
  readonly cut: boolean;
};

export type HttpExchangeOptions = {
  readonly addresses: readonly string[];
  readonly connect?: ConnectSocket;
  readonly clock: Clock;
  readonly maxBytes: number;
  readonly signal: AbortSignal;
};

/** Sends one GET over a new connection to one of these addresses. Returns at most `maxBytes` of the body, counted after decompression. */
export const fetchOnce = async (url: URL, options: HttpExchangeOptions): Promise<HttpExchangeResult> => {
  const { signal, maxBytes } = options;
  const socket = await connectToAny(url, options);
  const stop = (): void => void socket.destroy();
  // Pending reads reject by themselves; without this listener an error would crash the process.
  socket.on("error", () => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const message = await sendRequest(url, await startTls(url, socket));
    const { statusCode: status = 0, headers } = message;
    if ([301, 302, 303, 307, 308].includes(status) && headers.location !== undefined)
      return { redirect: headers.location };
    return { content: { status, type: headers["content-type"] ?? "", ...(await readBody(message, maxBytes)) } };
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof NetError ? error : new NetError("broken", errorMessage(error), error);
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
};

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** After this time the next address is tried. */
const connectTimeoutMs = 5000;

const connectToAny = async (
  url: URL,
  { addresses, connect = systemConnect, clock, signal }: HttpExchangeOptions,
): Promise<Socket> => {
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    const attempt = new AbortController();
    const abortAttempt = (): void => attempt.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", abortAttempt, { once: true });
    const isLast = index === addresses.length - 1;
    const cancelTimeout = isLast ? undefined : clock.after(connectTimeoutMs, abortAttempt);
    try {
      return await connect({ address, port }, attempt.signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    } finally {
      signal.removeEventListener("abort", abortAttempt);
      cancelTimeout?.();
    }
  }
  throw new NetError("connect", `Could not connect to ${url.host}: ${errorMessage(failure)}`, failure);
};

const systemConnect: ConnectSocket = async ({ address, port }, signal) => {
  const { connect } = await import("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    const stop = (): void => {
      socket.destroy();
      reject(new Error("The connection timed out."));
    };
    signal.addEventListener("abort", stop, { once: true });
    socket.once("error", reject);
    socket.once("connect", () => {
      signal.removeEventListener("abort", stop);
      socket.off("error", reject);
      resolve(socket);
    });
  });
};

/** Starts TLS. The certificate is checked for the host name, not the address. */
const startTls = async (url: URL, socket: Socket): Promise<Duplex> => {
  if (url.protocol === "http:") return socket;
  const { connect } = await import("node:tls");
  const { isIP } = await import("node:net");
  const host = normalizeHost(url);
  return new Promise((resolve, reject) => {
    const tlsSocket = connect({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
    });
    tlsSocket.on("error", reject);
    socket.once("close", () => reject(new NetError("connect", `The connection to ${host} was closed.`)));
    tlsSocket.once("secureConnect", () => resolve(tlsSocket));
  });
};

const sendRequest = async (url: URL, connection: Duplex): Promise<IncomingMessage> => {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const outgoing = request({
      createConnection: () => connection,
      method: "GET",
      path: `${url.pathname}${url.search}`,
      headers: {
        host: url.host,
        "user-agent": `Parley/${version}`,
        accept: "text/html,application/xhtml+xml,text/plain;q=0.9,*/*;q=0.8",
        "accept-encoding": "gzip, deflate, br",
      },
    });
    outgoing.once("response", resolve);
    outgoing.on("error", (error) => reject(new NetError("connect", error.message, error)));
    outgoing.once("close", () =>
      reject(new NetError("connect", `${url.host} closed the connection without a response.`)),
    );
    outgoing.end();
  });
};

const readBody = async (
  message: IncomingMessage,
  maxBytes: number,
): Promise<{ readonly bytes: Uint8Array; readonly cut: boolean }> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await decompress(message)) {
    chunks.push(chunk.subarray(0, maxBytes - length));
    length += chunk.length;
    if (length > maxBytes) return { bytes: Buffer.concat(chunks), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
};

const decompress = async (message: IncomingMessage): Promise<AsyncIterable<Buffer>> => {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const decompressWith = (decompressor: Duplex): Readable => pipeline(message, decompressor, () => undefined);
  if (encoding === "br") return decompressWith(createBrotliDecompress());
  if (["gzip", "x-gzip", "deflate"].includes(encoding)) return decompressWith(createUnzip());
  throw new NetError("broken", `Unsupported content encoding: ${encoding.slice(0, 40)}`);
};
