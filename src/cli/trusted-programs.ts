import { filterTrustedSearchPath, defaultSearchPath } from "../policy/shell/search-path.ts";
import type { World } from "../world/world.ts";

/** The environment for programs that Parley itself starts: nothing on its search path lies in the folder it works in. */
export const trustedEnvironment = async (
  { disk, env }: Pick<World, "disk" | "env">,
  folder: string,
): Promise<World["env"]> => ({
  ...env,
  PATH: await filterTrustedSearchPath(disk, env["PATH"] ?? defaultSearchPath, [folder]),
});

/** The same world, in which programs are not looked for in the folder Parley works in. */
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
