import { isAbsolute, join } from "node:path";
import type { World } from "./world.ts";

/** The folders Parley keeps its files in. They may be one and the same. */
export type HomeFolders = {
  /** Settings, keys and sign-ins, trust and other answers, commands, agents, skills, themes, memory. */
  readonly config: string;
  /** Sessions with all that belongs to them, and plugins. */
  readonly data: string;
  /** The input history, recent models, and other things that are no loss. */
  readonly state: string;
  /** Files that are created again when they are missing. */
  readonly cache: string;
};

/** One folder for everything, or each of the four. */
export type HomeOption = string | HomeFolders;

/** The four folders of a home; one folder holds all, its cache in a folder of its own. */
export const toHomeFolders = (home: HomeOption): HomeFolders =>
  typeof home === "string" ? { config: home, data: home, state: home, cache: join(home, "cache") } : home;

/** Lists the folders of a home, each once, without those inside another. */
export const listHomeFolders = (home: HomeOption): readonly string[] => {
  if (typeof home === "string") return [home];
  const all = [...new Set([home.config, home.data, home.state, home.cache])];
  return all.filter((path) => !all.some((other) => path.startsWith(`${other}/`)));
};

/**
 * Finds Parley's folders: `PARLEY_HOME`; or `.parley` in the user's home folder if it exists; or, if one of the XDG
 * variables is set, `parley` in each of the XDG folders; or `.parley`. Nothing is moved from one to another.
 */
export const findHomeFolders = async ({
  env,
  host,
  disk,
}: Pick<World, "env" | "host" | "disk">): Promise<HomeFolders> => {
  const configured = env["PARLEY_HOME"]?.trim() ?? "";
  if (configured !== "") return toHomeFolders(configured);
  const dotFolder = join(host.home, ".parley");
  const hasXdg = Object.keys(xdgDefaults).some((name) => xdgFolder(env, name) !== undefined);
  if (!hasXdg || (await disk.canonicalPath(dotFolder).catch(() => dotFolder)) !== undefined)
    return toHomeFolders(dotFolder);
  return findXdgFolders({ env, host });
};

/** The four folders that the XDG variables name, or their defaults, whether Parley uses them or not. */
export const findXdgFolders = ({ env, host }: Pick<World, "env" | "host">): HomeFolders => {
  const at = (name: keyof typeof xdgDefaults): string =>
    join(xdgFolder(env, name) ?? join(host.home, xdgDefaults[name]), "parley");
  return {
    config: at("XDG_CONFIG_HOME"),
    data: at("XDG_DATA_HOME"),
    state: at("XDG_STATE_HOME"),
    cache: at("XDG_CACHE_HOME"),
  };
};

const xdgDefaults = {
  XDG_CONFIG_HOME: ".config",
  XDG_DATA_HOME: ".local/share",
  XDG_STATE_HOME: ".local/state",
  XDG_CACHE_HOME: ".cache",
} as const;

/** A relative path is ignored, as the XDG specification demands. */
const xdgFolder = (env: World["env"], name: string): string | undefined => {
  const value = env[name] ?? "";
  return isAbsolute(value) ? value : undefined;
};
