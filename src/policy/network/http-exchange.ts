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

/** Where a redirect leads, as the server wrote it, or what came. */
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

/** One GET over a connection of its own to one of these addresses. At most `most` bytes of the body are kept, counted unpacked. */
export const fetchOnce = async (url: URL, options: HttpExchangeOptions): Promise<HttpExchangeResult> => {
  const { signal, maxBytes: most } = options;
  const socket = await connectToAny(url, options);
  const stop = (): void => void socket.destroy();
  // Whoever waits for the connection hears of its end; nobody else needs to.
  socket.on("error", () => undefined);
  signal.addEventListener("abort", stop, { once: true });
  try {
    const message = await sendRequest(url, await startTls(url, socket));
    const { statusCode: status = 0, headers } = message;
    if ([301, 302, 303, 307, 308].includes(status) && headers.location !== undefined)
      return { redirect: headers.location };
    return { content: { status, type: headers["content-type"] ?? "", ...(await readBody(message, most)) } };
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof NetError ? error : new NetError("broken", errorMessage(error), error);
  } finally {
    signal.removeEventListener("abort", stop);
    socket.destroy();
  }
};

const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** An address that does not answer in this time gives way to the next. */
const connectTimeoutMs = 5000;

const connectToAny = async (
  url: URL,
  { addresses, connect = systemConnect, clock, signal }: HttpExchangeOptions,
): Promise<Socket> => {
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  let failure: unknown;
  for (const [index, address] of addresses.entries()) {
    const tried = new AbortController();
    const giveUp = (): void => tried.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener("abort", giveUp, { once: true });
    const isLast = index === addresses.length - 1;
    const inTime = isLast ? undefined : clock.after(connectTimeoutMs, giveUp);
    try {
      return await connect({ address, port }, tried.signal);
    } catch (error) {
      signal.throwIfAborted();
      failure = error;
    } finally {
      signal.removeEventListener("abort", giveUp);
      inTime?.();
    }
  }
  throw new NetError("connect", `No connection to ${url.host}: ${errorMessage(failure)}`, failure);
};

const systemConnect: ConnectSocket = async ({ address, port }, signal) => {
  const { connect } = await import("node:net");
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port });
    const stop = (): void => {
      socket.destroy();
      reject(new Error("The connection took too long."));
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

/** The certificate is checked for the name, whatever address was connected to. */
const startTls = async (url: URL, socket: Socket): Promise<Duplex> => {
  if (url.protocol === "http:") return socket;
  const { connect } = await import("node:tls");
  const { isIP } = await import("node:net");
  const host = normalizeHost(url);
  return new Promise((resolve, reject) => {
    const secure = connect({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
    });
    secure.on("error", reject);
    socket.once("close", () => reject(new NetError("connect", `The connection to ${host} was closed.`)));
    secure.once("secureConnect", () => resolve(secure));
  });
};

const sendRequest = async (url: URL, connection: Duplex): Promise<IncomingMessage> => {
  const { request } = await import("node:http");
  return new Promise((resolve, reject) => {
    const sent = request({
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
    sent.once("response", resolve);
    sent.on("error", (error) => reject(new NetError("connect", error.message, error)));
    sent.once("close", () => reject(new NetError("connect", `${url.host} closed the connection without an answer.`)));
    sent.end();
  });
};

const readBody = async (
  message: IncomingMessage,
  most: number,
): Promise<{ readonly bytes: Uint8Array; readonly cut: boolean }> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of await decompress(message)) {
    chunks.push(chunk.subarray(0, most - length));
    length += chunk.length;
    if (length > most) return { bytes: Buffer.concat(chunks), cut: true };
  }
  return { bytes: Buffer.concat(chunks), cut: false };
};

const decompress = async (message: IncomingMessage): Promise<AsyncIterable<Buffer>> => {
  const encoding = (message.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return message;
  const { createBrotliDecompress, createUnzip } = await import("node:zlib");
  const { pipeline } = await import("node:stream");
  const through = (unpack: Duplex): Readable => pipeline(message, unpack, () => undefined);
  if (encoding === "br") return through(createBrotliDecompress());
  if (["gzip", "x-gzip", "deflate"].includes(encoding)) return through(createUnzip());
  throw new NetError("broken", `The answer is packed in a way nobody asked for: ${encoding.slice(0, 40)}`);
};
