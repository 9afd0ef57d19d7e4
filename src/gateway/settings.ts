import type { Settings } from "../settings/schema/values.ts";
import type { GatewayConfig } from "./routes/config.ts";

/** Returns the routes, clients and models of the user's settings. */
export const configFromSettings = (settings: Settings): GatewayConfig => {
  const spend = settings["gateway.spend"];
  return {
    routes: settings["gateway.routes"] ?? [],
    pools: Object.fromEntries(Object.entries(settings.pools).map(([name, { models }]) => [name, models])),
    clients: Object.fromEntries(
      Object.entries(settings["gateway.clients"] ?? {}).map(([name, { token, spend: own }]) => [
        name,
        { tokenHash: token, ...(own === undefined ? {} : { spend: own }) },
      ]),
    ),
    models: settings.models,
    ...(spend === undefined ? {} : { spend }),
  };
};

/** The port of the gateway where settings name none. It is fixed, so that the settings of clients stay valid. */
export const defaultPort = 4141;
