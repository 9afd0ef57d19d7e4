import {
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type OAuthClientProvider,
  type Transport,
} from "@modelcontextprotocol/client";
import type { World } from "../world/world.ts";
import type { ServerConfig } from "./config.ts";
import { guardedFetch, type GuardOptions } from "./http-guard.ts";
import { stdioTransport } from "./stdio.ts";

/** A way to try a server. `auto` asks first which protocol of the newer kind it speaks. */
export type Attempt = {
  readonly transport: () => Transport;
  readonly negotiation: "legacy" | "auto";
  /** What the far end said beside the protocol, if it can say anything. */
  readonly lastWords?: () => string;
};

export type TransportOptions = {
  readonly world: World;
  readonly config: ServerConfig;
  readonly root: string;
  readonly lookup?: GuardOptions["lookup"];
  readonly auth?: OAuthClientProvider | undefined;
};

/** The ways to try a server, the likeliest first. */
export const attemptsFor = (options: TransportOptions): readonly Attempt[] => {
  const { reach } = options.config;
  switch (reach.type) {
    case "stdio": {
      let current: ReturnType<typeof stdioTransport> | undefined;
      const transport = (): Transport => (current = stdioTransport({ ...options, reach }));
      const lastWords = (): string => current?.lastWords() ?? "";
      return [
        { transport, lastWords, negotiation: "legacy" },
        { transport, lastWords, negotiation: "auto" },
      ];
    }
    case "http":
      return [
        { transport: streamable(options, reach), negotiation: "legacy" },
        { transport: streamable(options, reach), negotiation: "auto" },
      ];
    case "sse":
      return [{ transport: events(options, reach), negotiation: "legacy" }];
    case "web":
      return [
        { transport: streamable(options, reach), negotiation: "legacy" },
        { transport: streamable(options, reach), negotiation: "auto" },
        { transport: events(options, reach), negotiation: "legacy" },
      ];
  }
};

type WebReach = Pick<Extract<ServerConfig["reach"], { url: string }>, "url" | "headers">;

const streamable =
  (options: TransportOptions, reach: WebReach): (() => Transport) =>
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

const events =
  (options: TransportOptions, reach: WebReach): (() => Transport) =>
  () =>
    new SSEClientTransport(new URL(reach.url), webOptions(options, reach));

/** Headers are not given to the transport: it would send them to whoever signs people in as well. */
const webOptions = (
  { world, config, lookup, auth }: TransportOptions,
  { url, headers }: WebReach,
): { readonly fetch: ReturnType<typeof guardedFetch>; readonly authProvider?: OAuthClientProvider } => ({
  fetch: guardedFetch({
    world,
    server: url,
    headers,
    patience: config.timeout + 30_000,
    ...(lookup === undefined ? {} : { lookup }),
  }),
  ...(auth === undefined ? {} : { authProvider: auth }),
});
