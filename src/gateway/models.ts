import { lazyProviders } from "../providers/lazy.data.ts";
import type { Environment } from "../world/world.ts";
import type { GatewayModel } from "./answers/answer.ts";
import type { GatewayConfig } from "./routes/config.ts";
import { listRouteNames } from "./routes/route.ts";

/** Lists the models a client can ask for: names and targets of routes, and the default model of every provider with a key. */
export const listModels = async (config: GatewayConfig, env: Environment): Promise<readonly GatewayModel[]> => {
  const { findModelFacts } = await import("../providers/models.ts");
  const usable = lazyProviders.filter(({ keys }) => keys.some((key) => (env[key] ?? "") !== ""));
  const defaults = await Promise.all(usable.map(async ({ id, load }) => `${id}/${(await load()).defaultModel}`));
  return [...new Set([...listRouteNames(config), ...defaults])].map((id) => {
    const slash = id.indexOf("/");
    if (slash === -1) return { id };
    const { known, ...published } = findModelFacts(id.slice(0, slash), id.slice(slash + 1));
    const { context, maxOutput } = { ...(known ? published : {}), ...config.models?.[id] };
    return {
      id,
      ...(context === undefined ? {} : { contextWindow: context }),
      ...(maxOutput === undefined ? {} : { maxOutput }),
    };
  });
};
