import type { Environment } from "../world/world.ts";
import type { Settings } from "./schema/values.ts";

/**
 * Adds the base URLs in settings to the environment. `PARLEY_<PROVIDER>_BASE_URL` takes precedence over settings, and
 * settings over variables shared with other programs.
 */
export const applyProviderUrls = ({ providers }: Pick<Settings, "providers">, env: Environment): Environment => {
  const baseUrls = Object.entries(providers).flatMap(([id, { baseUrl }]) => {
    const name = `PARLEY_${id.toUpperCase().replaceAll("-", "_")}_BASE_URL`;
    return baseUrl === undefined || (env[name] ?? "").trim() !== "" ? [] : [[name, baseUrl] as const];
  });
  return baseUrls.length === 0 ? env : { ...env, ...Object.fromEntries(baseUrls) };
};
