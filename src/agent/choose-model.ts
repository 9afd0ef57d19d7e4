import { providers } from "../providers/all.ts";
import type { Provider } from "../providers/define.ts";
import type { Settings } from "../settings/values.ts";
import type { Environment } from "../world/index.ts";
import { parseModel } from "./model-ref.ts";
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
export const chooseModel = (
  { model, pools, fallback }: Pick<Settings, "model" | "pools" | "fallback">,
  env: Environment,
): Chosen => {
  const others = fallback === undefined ? [] : (poolNamed(fallback, pools)?.models ?? namedPool(fallback).models);
  if (model !== undefined) {
    const pool = poolNamed(model, pools) ?? namedPool(model);
    return { by: "named", pool: { ...pool, models: [...pool.models, ...others] } };
  }
  const found = providers.find((provider) => hasKey(provider, env));
  const first = found === undefined ? parseModel("offline") : { provider: found, model: found.defaultModel };
  return {
    by: found === undefined ? "none" : "key",
    pool: { ...single(first), models: [first, ...(found === undefined ? [] : others)] },
  };
};

/** A pool by its name; undefined where there is none of that name. */
export const poolNamed = (name: string, pools: Settings["pools"]): Pool | undefined => {
  const pool = Object.hasOwn(pools, name) ? pools[name] : undefined;
  if (pool === undefined) return undefined;
  return {
    models: pool.models.map(parseModel),
    strategy: pool.strategy ?? "failover",
    cooldown: 1000 * (pool.cooldown ?? 60),
  };
};

const namedPool = (name: string): Pool => single(parseModel(name));

/** A pool of one. */
export const single = (model: Pool["models"][number]): Pool => ({
  models: [model],
  strategy: "failover",
  cooldown: 60_000,
});

/** Whether a variable holds a key of this provider. Sign-ins that have to be looked for elsewhere must be named. */
const hasKey = ({ auth }: Provider, env: Environment): boolean =>
  "env" in auth &&
  auth.optional !== true &&
  [...auth.env, ...(auth.tokens ?? [])].some((name) => (env[name] ?? "") !== "");
