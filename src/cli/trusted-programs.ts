import { filterTrustedSearchPath, defaultSearchPath } from "../policy/shell/search-path.ts";
import type { World } from "../world/world.ts";

/** Returns the environment for programs that Parley itself starts: its PATH has no folder inside the workspace. */
export const trustedEnvironment = async (
  { disk, env }: Pick<World, "disk" | "env">,
  folder: string,
): Promise<World["env"]> => ({
  ...env,
  PATH: await filterTrustedSearchPath(disk, env["PATH"] ?? defaultSearchPath, [folder]),
});

/** Returns the world with a program search that skips folders inside the workspace. */
export const withTrustedPrograms = <Some extends Pick<World, "disk" | "processes">>(
  world: Some,
  folder: string,
): Some => ({
  ...world,
  processes: {
    ...world.processes,
    find: async (name: string, path: string) =>
      world.processes.find(name, await filterTrustedSearchPath(world.disk, path, [folder])),
  },
});
