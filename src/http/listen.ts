import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server that listens. */
export type ListeningServer = {
  readonly server: Server;
  readonly host: string;
  readonly port: number;
  /** Refuses new connections, lets open requests end for at most this long, and resolves when the port is free. */
  readonly close: (milliseconds?: number) => Promise<void>;
};

export type ListenOptions = {
  readonly host?: string;
  readonly port?: number;
  /** Milliseconds until the head of a request must be there. A slow sender does not hold a connection longer. */
  readonly headTime?: number;
  /** Milliseconds until a whole request must be there. */
  readonly requestTime?: number;
  readonly connections?: number;
  /** Milliseconds an idle connection stays open for a next request. */
  readonly idleTime?: number;
};

/**
 * Listens with the limits every door has: time for head and body of a request (slowloris), 16 KiB of headers, a most of
 * connections, and Node's strict parser, which refuses what two servers could read in two ways (request smuggling).
 */
export const listen = async (
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  {
    host = "127.0.0.1",
    port = 0,
    headTime = 10_000,
    requestTime = 60_000,
    connections = 1000,
    idleTime = 5000,
  }: ListenOptions = {},
): Promise<ListeningServer> => {
  const server = createServer(
    {
      insecureHTTPParser: false,
      requireHostHeader: true,
      maxHeaderSize: 16_384,
      headersTimeout: headTime,
      requestTimeout: requestTime,
      keepAliveTimeout: idleTime,
      // How often the two limits are applied.
      connectionsCheckingInterval: Math.max(50, Math.min(headTime, requestTime) / 2),
    },
    answer,
  );
  server.maxConnections = connections;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(port, host, resolve));
  const { port: own } = server.address() as AddressInfo;
  const end = (milliseconds: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => server.closeAllConnections(), milliseconds);
      server.close(() => {
        clearTimeout(timer);
        resolve();
      });
      server.closeIdleConnections();
    });
  return { server, host, port: own, close: (milliseconds = 0) => end(milliseconds) };
};
