import type { World } from "../world/world.ts";

/** Returns Parley's home folder: `PARLEY_HOME`, or `.parley` in the user's home folder. */
export const resolveHomeFolder = ({ env, host }: Pick<World, "env" | "host">): string => {
  const configured = env["PARLEY_HOME"]?.trim() ?? "";
  return configured === "" ? `${host.home}/.parley` : configured;
};
