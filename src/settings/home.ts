import type { World } from "../world/world.ts";

/** The folder where Parley keeps its own things: `PARLEY_HOME`, or `.parley` in the person's home. */
export const resolveHomeFolder = ({ env, host }: Pick<World, "env" | "host">): string => {
  const moved = env["PARLEY_HOME"]?.trim() ?? "";
  return moved === "" ? `${host.home}/.parley` : moved;
};
