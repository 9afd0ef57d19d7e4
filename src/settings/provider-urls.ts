import type { Environment } from "../world/world.ts";
import type { Settings } from "./schema/values.ts";

/**
 * The environment with the addresses of providers that the settings name. `PARLEY_<PROVIDER>_BASE_URL` counts more
 * than settings, and settings more than the variables other programs share.
 */
export const applyProviderUrls = ({ providers }: Pick<Settings, "providers">, env: Environment): Environment => {
  const moved = Object.entries(providers).flatMap(([id, { baseUrl }]) => {
    const name = `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
    return baseUrl === undefined || (env[name] ?? "").trim() !== "" ? [] : [[name, baseUrl] as const];
  });
  return moved.length === 0 ? env : { ...env, ...Object.fromEntries(moved) };
};
