import { lateProviders } from "../providers/late.ts";
import type { Settings } from "../settings/values.ts";
import type { Environment } from "../world/world.ts";
import { loadModel } from "./model-name.ts";
import type { Pool } from "./route.ts";

/** The models to ask, and why these where nobody named any. */
export type Chosen = {
  readonly pool: Pool;
  /** `named`: by the person. `key`: the first provider with a key. `none`: nothing was found, so the offline model answers. */
  readonly by: "named" | "key" | "none";
};

/**
 * Chooses the models of a run: the one or the pool that was named, else the
 * default of the first provider with a key, else the one that needs none.
 * Throws an `UnknownNameError`.
 */
export const chooseModel = async (
  { model, pools, fallback }: Pick<Settings, "model" | "pools" | "fallback">,
  env: Environment,
): Promise<Chosen> => {
  const others = fallback === undefined ? [] : (await poolNamed(fallback, pools)).models;
  if (model !== undefined) {
    const pool = await poolNamed(model, pools);
    return { by: "named", pool: { ...pool, models: [...pool.models, ...others] } };
  }
  // Sign-ins that have to be looked for elsewhere must be named.
  const found = lateProviders.find(({ keys }) => keys.some((key) => (env[key] ?? "") !== ""));
  const first = await loadModel(found?.id ?? "offline");
  return {
    by: found === undefined ? "none" : "key",
    pool: { ...single(first), models: [first, ...(found === undefined ? [] : others)] },
  };
};

/** The pool of that name, or a pool of the one model. */
export const poolNamed = async (name: string, pools: Settings["pools"]): Promise<Pool> => {
  const pool = Object.hasOwn(pools, name) ? pools[name] : undefined;
  if (pool === undefined) return single(await loadModel(name));
  return {
    models: await Promise.all(pool.models.map(loadModel)),
    strategy: pool.strategy ?? "failover",
    cooldown: 1000 * (pool.cooldown ?? 60),
  };
};

/** A pool of one. */
export const single = (model: Pool["models"][number]): Pool => ({
  models: [model],
  strategy: "failover",
  cooldown: 60_000,
});
