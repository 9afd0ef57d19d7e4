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

/** A way to try a server. `auto` asks first which protocol of the newer kind it speaks. */
export type ConnectAttempt = {
  readonly createTransport: () => Transport;
  readonly negotiation: "legacy" | "auto";
  /** What the far end said beside the protocol, if it can say anything. */
  readonly recentStderr?: () => string;
};

export type McpTransportOptions = {
  readonly world: World;
  readonly config: McpServerConfig;
  readonly root: string;
  readonly lookup?: GuardedFetchOptions["lookup"];
  readonly auth?: OAuthClientProvider | undefined;
};

/** The ways to try a server, the likeliest first. */
export const listAttempts = (options: McpTransportOptions): readonly ConnectAttempt[] => {
  const { endpoint: reach } = options.config;
  switch (reach.type) {
    case "stdio": {
      let current: ReturnType<typeof createStdioTransport> | undefined;
      const transport = (): Transport => (current = createStdioTransport({ ...options, endpoint: reach }));
      const lastWords = (): string => current?.recentStderr() ?? "";
      return [
        { createTransport: transport, recentStderr: lastWords, negotiation: "legacy" },
        { createTransport: transport, recentStderr: lastWords, negotiation: "auto" },
      ];
    }
    case "http":
      return [
        { createTransport: streamableHttp(options, reach), negotiation: "legacy" },
        { createTransport: streamableHttp(options, reach), negotiation: "auto" },
      ];
    case "sse":
      return [{ createTransport: serverSentEvents(options, reach), negotiation: "legacy" }];
    case "web":
      return [
        { createTransport: streamableHttp(options, reach), negotiation: "legacy" },
        { createTransport: streamableHttp(options, reach), negotiation: "auto" },
        { createTransport: serverSentEvents(options, reach), negotiation: "legacy" },
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

/** Headers are not given to the transport: it would send them to whoever signs people in as well. */
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
