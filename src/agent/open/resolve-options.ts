import { toHomeFolders } from "../../world/home-folders.ts";
import type { OpenAgentOptions, ResolvedAgentOptions } from "../options.ts";

/** Fills in the defaults. Front ends have loaded the settings already, so nothing is loaded for them here. */
export const resolveOptions = async (given: OpenAgentOptions): Promise<ResolvedAgentOptions> => {
  checkFolder(given);
  const { loaded, world, home, folder } = given;
  const environment =
    loaded === undefined || world === undefined || home === undefined
      ? await (await import("../environment.ts")).loadAgentEnvironment(given)
      : { loaded, world, home: toHomeFolders(home), folder };
  const { settings } = environment.loaded;
  return {
    ...given,
    ...environment,
    interactive: given.interactive ?? false,
    folder: (await environment.world.disk.canonicalPath(environment.folder)) ?? environment.folder,
    ...(given.sandbox === undefined && (settings.sandbox || settings.sandboxNetwork === "off")
      ? { sandbox: "wanted" }
      : {}),
  };
};

/** Throws a `TypeError` without a folder: programs in JavaScript learn it here. */
const checkFolder = (given: unknown): void => {
  const folder = typeof given === "object" && given !== null && "folder" in given ? given.folder : undefined;
  if (typeof folder !== "string" || folder === "")
    throw new TypeError('openAgent needs the folder to work in, such as openAgent({ folder: "." }).');
};
