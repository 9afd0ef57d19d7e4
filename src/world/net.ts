/** The network: one request, one answer. Redirects are answers like any other and are never followed. */
export type Net = {
  /**
   * Resolves once the answer's headers are there. Aborting closes the connection
   * at once, also while the body is read. Rejects with a `NetError`, or with the signal's reason.
   */
  readonly send: (request: HttpRequest, signal?: AbortSignal) => Promise<HttpResponse>;
  /**
   * Registers a user of the connections that are kept open between requests, and returns how to release it. The last
   * release closes them: idle ones at once, others when their answer is over. A later request connects anew.
   */
  readonly acquire?: () => () => void;
};

/** A network through proxies. */
export type ProxiedNet = Net & {
  /** Closes idle connections now, and each other one as soon as its answer is over. */
  readonly closeIdle: () => void;
};

/** How long a connection may take until a request can be sent on it, tunnel and TLS handshake included, in milliseconds. */
export const connectTimeout = 20_000;

/** A request. Header names are in lower case. */
export type HttpRequest = {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: string;
  readonly headers: HttpHeaders;
  readonly body?: string | Uint8Array;
  /** Where to connect instead of asking for the host's addresses again. A proxy asks for itself. */
  readonly addresses?: readonly string[];
};

/** An answer. Whoever takes one reads its body to the end, or leaves the loop, which closes the connection. */
export type HttpResponse = {
  readonly status: number;
  readonly headers: HttpHeaders;
  /** Decompressed. Iterating throws a `NetError` when the connection breaks before the end. */
  readonly body: AsyncIterable<Uint8Array>;
};

/** Header values by name in lower case. */
export type HttpHeaders = { readonly [name: string]: string };

/** The connection failed: before an answer came (`connect`), or within one (`broken`). */
export class NetError extends Error {
  readonly at: "connect" | "broken";
  /** The operating system's code, such as ECONNREFUSED, where there is one. */
  readonly code: string | undefined;

  /** Whether the same would happen again: a certificate that is not accepted, a proxy that cannot be used. */
  readonly isPermanent: boolean;

  constructor(at: "connect" | "broken", message: string, cause?: unknown, isLasting?: boolean) {
    super(message, { cause });
    this.at = at;
    this.code = cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : undefined;
    this.isPermanent = isLasting ?? (this.code !== undefined && permanentCodes.test(this.code));
  }
}

/** Codes of certificates that are not accepted: the next attempt would meet the same one. */
const permanentCodes =
  /^(?:CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|ERR_TLS_CERT_|ERR_SSL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE)/;

/** The whole body as text, at most `limit` bytes of it. */
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
