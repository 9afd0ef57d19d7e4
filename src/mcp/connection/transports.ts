import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type Transport,
} from "@modelcontextprotocol/client";
import type { World } from "../../world/world.ts";
import type { McpServerConfig } from "../config/read-servers.ts";
import { createGuardedFetch, type GuardedFetchOptions } from "./http-guard.ts";
import { createStdioTransport } from "./stdio.ts";

/** A way to connect to a server. `auto` first negotiates the newer protocol. */
export type ConnectAttempt = {
  readonly createTransport: () => Transport;
  readonly negotiation: "legacy" | "auto";
  /** The server's recent stderr output, if it has one. */
  readonly recentStderr?: () => string;
};

export type McpTransportOptions = {
  readonly world: World;
  readonly config: McpServerConfig;
  readonly root: string;
  readonly lookup?: GuardedFetchOptions["lookup"];
  readonly auth?: OAuthClientProvider | undefined;
};

/** The ways to connect to a server, the most likely first. */
export const listAttempts = (options: McpTransportOptions): readonly ConnectAttempt[] => {
  const { endpoint } = options.config;
  switch (endpoint.type) {
    case "stdio": {
      let current: ReturnType<typeof createStdioTransport> | undefined;
      const createTransport = (): Transport => (current = createStdioTransport({ ...options, endpoint }));
      const recentStderr = (): string => current?.recentStderr() ?? "";
      return [
        { createTransport, recentStderr, negotiation: "legacy" },
        { createTransport, recentStderr, negotiation: "auto" },
      ];
    }
    case "http":
      return [
        { createTransport: streamableHttp(options, endpoint), negotiation: "legacy" },
        { createTransport: streamableHttp(options, endpoint), negotiation: "auto" },
      ];
    case "sse":
      return [{ createTransport: serverSentEvents(options, endpoint), negotiation: "legacy" }];
    case "web":
      return [
        { createTransport: streamableHttp(options, endpoint), negotiation: "legacy" },
        { createTransport: streamableHttp(options, endpoint), negotiation: "auto" },
        { createTransport: serverSentEvents(options, endpoint), negotiation: "legacy" },
      ];
  }
};

type WebEndpoint = Pick<Extract<McpServerConfig["endpoint"], { url: string }>, "url" | "headers">;

const streamableHttp =
  (options: McpTransportOptions, reach: WebEndpoint): (() => Transport) =>
  () =>
    new StreamableHTTPClientTransport(new URL(reach.url), {
      ...webOptions(options, reach),
      reconnectionOptions: {
        initialReconnectionDelay: 1000,
        maxReconnectionDelay: 30_000,
        reconnectionDelayGrowFactor: 2,
        maxRetries: 5,
      },
    });

const serverSentEvents =
  (options: McpTransportOptions, reach: WebEndpoint): (() => Transport) =>
  () =>
    new SSEClientTransport(new URL(reach.url), webOptions(options, reach));

/** Headers are not given to the transport: it would send them to the authorization server as well. */
const webOptions = (
  { world, config, lookup, auth }: McpTransportOptions,
  { url, headers }: WebEndpoint,
): { readonly fetch: ReturnType<typeof createGuardedFetch>; readonly authProvider?: OAuthClientProvider } => ({
  fetch: createGuardedFetch({
    world,
    server: url,
    headers,
    maxPause: config.timeout + 30_000,
    ...(lookup === undefined ? {} : { lookup }),
  }),
  ...(auth === undefined ? {} : { authProvider: auth }),
});
