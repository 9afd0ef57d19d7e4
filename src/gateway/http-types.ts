import type { HttpHeaders } from "../world/net.ts";

/** A request of a client. Header names are in lower case. */
export type GatewayRequest = {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: HttpHeaders;
  /** Reads the body. Called once, after the token was checked. Throws a `RequestBodyError`. */
  readonly body: () => Promise<Uint8Array>;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
};

/** A response for a client: a complete body, or a stream. */
export type GatewayResponse = {
  readonly status: number;
  readonly headers: HttpHeaders;
  readonly body: string | Uint8Array | StreamedBody;
};

/** A body that arrives piece by piece. The next piece is fetched only when the last one was taken (backpressure). */
export type StreamedBody = {
  /** Leaving the loop cancels the request to the target. A thrown error means that the connection must break. */
  readonly chunks: AsyncGenerator<string | Uint8Array, void>;
  /** Text that keeps the connection alive; it may stand between any two chunks. */
  readonly ping?: () => string;
};
