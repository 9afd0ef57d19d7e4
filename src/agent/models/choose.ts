import { lazyProviders } from "../../providers/lazy.data.ts";
import type { Settings } from "../../settings/schema/values.ts";
import type { Environment } from "../../world/world.ts";
import { loadModel, type ModelRef } from "./name.ts";
import type { ModelPool } from "./router.ts";

/** The models of a session, and how they were chosen. */
export type ModelChoice = {
  readonly pool: ModelPool;
  /**
   * `named`: by a setting or flag. `recent`: the user's last choice. `key`: the first provider with a key. `local`: a server on
   * this machine. `none`: no key was found, so the demo model answers.
   */
  readonly by: "named" | "recent" | "key" | "local" | "none";
  /** Why the last choice is not used. */
  readonly note?: string;
};

/**
 * Chooses the models of a session: the named model or pool, else the user's last choice, else the default model of the
 * first provider with a key, else a local model, else the demo model. Throws an `UnknownNameError`.
 */
export const chooseModel = async (
  { model, pools, fallback }: Pick<Settings, "pools" | "fallback"> & { readonly model?: string | ModelRef | undefined },
  env: Environment,
  {
    lastChoice = async () => undefined,
    localModel,
  }: { readonly lastChoice?: () => Promise<string | undefined>; readonly localModel?: string | undefined } = {},
): Promise<ModelChoice> => {
  const others = fallback === undefined ? [] : (await loadPool(fallback, pools, env)).models;
  const withFallback = (pool: ModelPool): ModelPool => ({ ...pool, models: [...pool.models, ...others] });
  if (model !== undefined) {
    const pool = typeof model === "string" ? await loadPool(model, pools, env) : singleModelPool(model);
    return { by: "named", pool: withFallback(pool) };
  }
  const last = await lastChoice();
  const recent = last === undefined ? undefined : await loadPool(last, pools, env).catch(() => undefined);
  if (recent !== undefined && hasKey(recent, env)) return { by: "recent", pool: withFallback(recent) };
  // Providers with a sign-in are used only when named: looking for sign-ins takes time.
  const found = lazyProviders.find(({ keys }) => keys.some((key) => (env[key] ?? "") !== ""));
  const local = found === undefined && localModel !== undefined;
  const first = await loadModel(local ? `local/${localModel}` : (found?.id ?? "offline"));
  return {
    ...(last === undefined ? {} : { note: `${last}, which you chose last, is not used: no key is set for it now.` }),
    by: local ? "local" : found === undefined ? "none" : "key",
    pool: { ...singleModelPool(first), models: [first, ...(found === undefined ? [] : others)] },
  };
};

/** Whether the first model of a pool needs no key, or its key is set. */
const hasKey = ({ models: [first] }: ModelPool, env: Environment): boolean => {
  const { auth } = first?.provider ?? {};
  if (auth === undefined || !("env" in auth) || auth.optional === true) return true;
  return [...auth.env, ...(auth.tokens ?? [])].some((key) => (env[key] ?? "") !== "");
};

/** Loads the pool of that name, or a pool of the one model of that name. */
export const loadPool = async (name: string, pools: Settings["pools"], env: Environment): Promise<ModelPool> => {
  const pool = Object.hasOwn(pools, name) ? pools[name] : undefined;
  if (pool === undefined) return singleModelPool(await loadModel(name, env));
  return {
    models: await Promise.all(pool.models.map((each) => loadModel(each, env))),
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
