import { resolve } from "node:path";
import { withDemoModel, type DemoModelOptions } from "../offline/net.ts";
import { openTrustStore } from "../policy/trust/folders.ts";
import { SettingsError } from "../settings/error.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import { loadSettings, type LoadedSettings } from "../settings/load/load.ts";
import { applyProviderUrls } from "../settings/provider-urls.ts";
import { findHomeFolders, toHomeFolders, type HomeFolders, type HomeOption } from "../world/home-folders.ts";
import { realWorld } from "../world/real/world.ts";
import type { World } from "../world/world.ts";

/** The world, folders and settings of an agent. */
export type AgentEnvironment = {
  readonly world: World;
  readonly home: HomeFolders;
  readonly folder: string;
  readonly loaded: LoadedSettings;
};

/** Options of an agent's environment. */
export type AgentEnvironmentOptions = {
  readonly folder: string;
  readonly home?: HomeOption;
  readonly world?: World;
  /** Settings that are loaded already. */
  readonly loaded?: LoadedSettings;
  readonly flags?: CommandLineFlags;
};

/**
 * Loads the environment of an agent in a folder: the person's settings, those of the folder if they trust it, and the
 * demo model. Throws a `SettingsError`.
 */
export const loadAgentEnvironment = async ({
  world: given = realWorld(),
  home: givenHome,
  flags = {},
  ...options
}: AgentEnvironmentOptions): Promise<AgentEnvironment> => {
  const folder = resolve(options.folder);
  const home = givenHome === undefined ? await findHomeFolders(given) : toHomeFolders(givenHome);
  const loaded = options.loaded ?? (await loadFolderSettings(given, { home, folder, flags }));
  const world = { ...given, env: await addProviderSettings(given, { home, folder, loaded }) };
  const script = loaded.settings["offline.script"];
  return {
    world: { ...world, net: withDemoModel(given.net, await readDemoScript(script, world)) },
    home,
    folder,
    loaded,
  };
};

/** The environment with the base URLs of settings and with stored keys. Without stored keys, none of their code is loaded. */
const addProviderSettings = async (
  world: World,
  { home, folder, loaded: { settings } }: Pick<AgentEnvironment, "home" | "folder" | "loaded">,
): Promise<World["env"]> => {
  const env = applyProviderUrls(settings, world.env);
  if (settings.profile === undefined && (await world.files.read(`${home.config}/auth/keys.json`)) === undefined)
    return env;
  const [{ applyStoredKeys, lazySystemStore }, { filterTrustedSearchPath, defaultSearchPath }] = await Promise.all([
    import("../transport/credentials/key-store.ts"),
    import("../policy/shell/search-path.ts"),
  ]);
  const openSystemStore = lazySystemStore(async () => ({
    ...world,
    searchPath: await filterTrustedSearchPath(world.disk, env["PATH"] ?? defaultSearchPath, [folder]),
  }));
  return applyStoredKeys(
    { ...world, env },
    { home: home.config, profile: settings.profile, providers: settings.providers },
    openSystemStore,
  );
};

const loadFolderSettings = async (
  world: World,
  {
    home: { config },
    folder,
    flags,
  }: Pick<AgentEnvironment, "home" | "folder"> & Required<Pick<AgentEnvironmentOptions, "flags">>,
): Promise<LoadedSettings> =>
  loadSettings(world, {
    home: config,
    root: folder,
    scope: await openTrustStore(world.disk, config).projectScope(folder),
    flags,
  });

const readDemoScript = async (path: string | undefined, { files }: World): Promise<DemoModelOptions> => {
  if (path === undefined) return {};
  const text = await files.read(resolve(path));
  if (text === undefined)
    throw new SettingsError({ kind: "refused", message: `No such file: ${path} (offline.script).` });
  const { parseDemoScript } = await import("../offline/script/parse-script.ts");
  try {
    return { script: parseDemoScript(JSON.parse(text)) };
  } catch (error) {
    const message = `${path} is not a valid script for the demo model. ${error instanceof Error ? error.message : ""}`;
    throw new SettingsError({ kind: "refused", message }, error);
  }
};
