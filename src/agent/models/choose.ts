import { lazyProviders } from "../../providers/lazy.data.ts";
import type { Settings } from "../../settings/schema/values.ts";
import type { Environment } from "../../world/world.ts";
import { loadModel, type ModelRef } from "./name.ts";
import type { ModelPool } from "./router.ts";

/** The models of a session, and how they were chosen. */
export type ModelChoice = {
  readonly pool: ModelPool;
  /** `named`: by a setting or flag. `key`: the first provider with a key. `none`: no key was found, so the demo model answers. */
  readonly by: "named" | "key" | "none";
};

/**
 * Chooses the models of a session: the named model or pool, else the default model of the first provider with a key,
 * else the demo model. Throws an `UnknownNameError`.
 */
export const chooseModel = async (
  { model, pools, fallback }: Pick<Settings, "pools" | "fallback"> & { readonly model?: string | ModelRef | undefined },
  env: Environment,
): Promise<ModelChoice> => {
  const others = fallback === undefined ? [] : (await loadPool(fallback, pools)).models;
  if (model !== undefined) {
    const pool = typeof model === "string" ? await loadPool(model, pools) : singleModelPool(model);
    return { by: "named", pool: { ...pool, models: [...pool.models, ...others] } };
  }
  // Providers with a sign-in are used only when named: looking for sign-ins takes time.
  const found = lazyProviders.find(({ keys }) => keys.some((key) => (env[key] ?? "") !== ""));
  const first = await loadModel(found?.id ?? "offline");
  return {
    by: found === undefined ? "none" : "key",
    pool: { ...singleModelPool(first), models: [first, ...(found === undefined ? [] : others)] },
  };
};

/** Loads the pool of that name, or a pool of the one model of that name. */
export const loadPool = async (name: string, pools: Settings["pools"]): Promise<ModelPool> => {
  const pool = Object.hasOwn(pools, name) ? pools[name] : undefined;
  if (pool === undefined) return singleModelPool(await loadModel(name));
  return {
    models: await Promise.all(pool.models.map(loadModel)),
    strategy: pool.strategy ?? "failover",
    cooldown: 1000 * (pool.cooldown ?? 60),
  };
};

/** A pool of one model. */
export const singleModelPool = (model: ModelPool["models"][number]): ModelPool => ({
  models: [model],
  strategy: "failover",
  cooldown: 60_000,
});
