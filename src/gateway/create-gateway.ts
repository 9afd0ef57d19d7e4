import { toFetchHandler, type FetchHandler } from "./fetch-handler.ts";
import { openGateway } from "./gateway.ts";
import type { GatewayLimits, GatewayOptions } from "./options.ts";
import type { GatewayConfig } from "./routes/config.ts";
import { realWorld } from "../world/real/world.ts";
import type { Environment, World } from "../world/world.ts";

/** Options of `createGateway`: routes and clients, and how it runs. */
export type CreateGatewayOptions = GatewayConfig & {
  /** The keys and addresses of providers. Default: the environment of this process. */
  readonly env?: Environment;
  readonly world?: World;
  /** Receives every exchange when it is over: both requests, notes, usage and cost. Secrets are not redacted. */
  readonly onExchange?: GatewayOptions["onExchange"];
  readonly limits?: Partial<GatewayLimits>;
};

/**
 * Creates a gateway as a fetch handler, for any web framework. Without `clients`, everybody who reaches it may use your
 * keys: check requests before it, or name clients.
 */
export const createGateway = (options: CreateGatewayOptions = {}): FetchHandler => {
  const { env, world = realWorld(env), onExchange, limits, ...config } = options;
  return toFetchHandler(
    openGateway({
      world,
      config: () => config,
      lint: async (body, target) => (await import("../rules/lint.ts")).lint(body, target),
      ...(onExchange === undefined ? {} : { onExchange }),
      ...(limits === undefined ? {} : { limits }),
    }),
  );
};
