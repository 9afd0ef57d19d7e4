/** The network: one request, one response. Redirects are returned like any other response and never followed. */
export type Net = {
  /**
   * Resolves once the response headers are there. Aborting closes the connection at once, also while the body is read.
   * Rejects with a `NetError`, or with the signal's reason.
   */
  readonly send: (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>;
  /**
   * Registers a user of the keep-alive connections and returns its release (a lease). The last release closes them:
   * idle ones at once, others when their response ends. A later request connects anew.
   */
  readonly acquire?: () => () => void;
};

/** A network through proxies. */
export type ProxiedNet = Net & {
  /** Closes idle connections now, and each busy one as soon as its response ends. */
  readonly closeIdle: () => void;
};

/** Time limit in milliseconds for a connection to be ready for a request, proxy tunnel and TLS handshake included. */
export const connectTimeout = 20_000;

/** A request. Header names are in lower case. */
export type HttpRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: string | Uint8Array;
  /** IP addresses to connect to instead of resolving the host again. A proxy resolves for itself. */
  readonly addresses?: readonly string[];
  /** The request is sent once this resolves, and not at all if it rejects. It may be connected meanwhile. */
  readonly ready?: Promise<void> | undefined;
};

/** A response. The caller reads its body to the end, or leaves the loop, which closes the connection. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Decompressed. Iterating throws a `NetError` when the connection breaks before the end. */
  readonly body: AsyncIterable<Uint8Array>;
};

/** Header values by name in lower case. */
export type HttpHeaders = { readonly [name: string]: string };

/** A failed connection: before a response came (`connect`), or within one (`broken`). */
export class NetError extends Error {
  readonly at: "connect" | "broken";
  /** The operating system's code, such as ECONNREFUSED, where there is one. */
  readonly code: string | undefined;

  /** Whether a retry would fail the same way: a certificate that is not accepted, a proxy that cannot be used. */
  readonly isPermanent: boolean;

  constructor(at: "connect" | "broken", message: string, cause?: unknown, isLasting?: boolean) {
    super(message, { cause });
    this.at = at;
    this.code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
    this.isPermanent = isLasting ?? (this.code !== undefined && permanentCodes.test(this.code));
  }
}

/** Error codes of certificates that are not accepted: the next attempt would get the same one. */
const permanentCodes =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** Reads the body as text, at most `limit` bytes of it. */
export const readBodyText = async (response: HttpResponse, limit: number = 2 ** 26): Promise<string> => {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body) {
    const rest = limit - bytes;
    text += decoder.decode(chunk.length > rest ? chunk.subarray(0, rest) : chunk, { stream: true });
    bytes += chunk.length;
    if (bytes >= limit) break;
  }
  return text + decoder.decode();
};
