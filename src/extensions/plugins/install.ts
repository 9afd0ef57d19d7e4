import type { World } from "../../world/world.ts";
import type { SettingsWriteWorld } from "../../settings/file/with-settings-lock.ts";
import type { FetchedPlugin } from "./fetch-source.ts";
import type { Plugin } from "./plugin.ts";
import {
  dataFolder,
  ensureFolder,
  readInstalledPlugins,
  removeData,
  removeUnusedContent,
  storeContent,
  writeInstalledPlugin,
  type InstalledPlugin,
} from "./store.ts";

/** A plugin, the hash of the files that were shown, and the kinds the person agreed to. */
export type AgreedPlugin = {
  readonly plugin: Plugin;
  readonly fetched: FetchedPlugin;
  readonly hash: string;
  readonly agreed: InstalledPlugin["agreed"];
};

type InstallWorld = SettingsWriteWorld & Pick<World, "disk" | "files" | "random">;

/** Copies a plugin's files and adds it to the list. Throws a `PluginSourceError` if they are not those that were shown. */
export const installPlugin = async (
  world: InstallWorld,
  home: string,
  { plugin: { name }, fetched: { tree, source, entry }, hash, agreed }: AgreedPlugin,
): Promise<void> => {
  const stamp = await storeContent(world, home, tree, hash);
  await ensureFolder(world.disk, dataFolder(home, name));
  const record = { name, source, hash, stamp, agreed, isEnabled: true, ...(entry === undefined ? {} : { entry }) };
  await writeInstalledPlugin(world, home, { name, plugin: record });
};

/** The added plugin of a name, in capital letters or not. */
export const findInstalledPlugin = async (
  world: Pick<World, "files">,
  home: string,
  name: string,
): Promise<InstalledPlugin | undefined> =>
  (await readInstalledPlugins(world, home)).find((each) => each.name.toLowerCase() === name.toLowerCase());

/** Removes a plugin, its files and its data. */
export const uninstallPlugin = async (
  world: InstallWorld,
  home: string,
  { name, hash }: Pick<InstalledPlugin, "name" | "hash">,
): Promise<void> => {
  await writeInstalledPlugin(world, home, { name, plugin: undefined });
  await removeUnusedContent(world, home, hash);
  await removeData(world.disk, home, name);
};
