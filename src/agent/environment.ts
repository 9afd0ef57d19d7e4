import { resolve } from "node:path";
import { withDemoModel, type DemoModelOptions } from "../offline/net.ts";
import { openTrustStore } from "../policy/trust/folders.ts";
import { SettingsError } from "../settings/error.ts";
import { resolveHomeFolder } from "../settings/home.ts";
import type { CommandLineFlags } from "../settings/load/flags-and-environment.ts";
import { loadSettings, type LoadedSettings } from "../settings/load/load.ts";
import { applyProviderUrls } from "../settings/provider-urls.ts";
import { realWorld } from "../world/real/world.ts";
import type { World } from "../world/world.ts";

/** The world, folders and settings of an agent. */
export type AgentEnvironment = {
  readonly world: World;
  readonly home: string;
  readonly folder: string;
  readonly loaded: LoadedSettings;
};

/** Options of an agent's environment. */
export type AgentEnvironmentOptions = {
  readonly folder: string;
  readonly home?: string;
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
  home = resolveHomeFolder(given),
  flags = {},
  ...options
}: AgentEnvironmentOptions): Promise<AgentEnvironment> => {
  const folder = resolve(options.folder);
  const loaded = options.loaded ?? (await loadFolderSettings(given, { home, folder, flags }));
  const world = { ...given, env: applyProviderUrls(loaded.settings, given.env) };
  const script = loaded.settings["offline.script"];
  return {
    world: { ...world, net: withDemoModel(given.net, await readDemoScript(script, world)) },
    home,
    folder,
    loaded,
  };
};

const loadFolderSettings = async (
  world: World,
  { home, folder, flags }: Required<Pick<AgentEnvironmentOptions, "home" | "folder" | "flags">>,
): Promise<LoadedSettings> =>
  loadSettings(world, {
    home,
    root: folder,
    scope: await openTrustStore(world.disk, home).projectScope(folder),
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
