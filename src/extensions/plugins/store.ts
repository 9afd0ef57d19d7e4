import { basename, dirname, join } from "node:path";
import { isObject, type JsonObject } from "../../conversation/json.ts";
import type { Disk, Folder } from "../../world/disk.ts";
import { withSettingsLock, type SettingsWriteWorld } from "../../settings/file/with-settings-lock.ts";
import type { World } from "../../world/world.ts";
import { hashIdentities, hashTree } from "./content-hash.ts";
import { isPluginName, pluginCapabilities, type PluginCapability } from "./plugin.ts";
import { bytecodeParent, PluginSourceError, readDiskTree, withoutBytecode, type PluginTree } from "./tree.ts";

/** An added plugin: where it is from, the content the person agreed to, and to which kinds of it. */
export type InstalledPlugin = {
  readonly name: string;
  readonly source: PluginSource;
  /** The hash of its files when the person agreed. */
  readonly hash: string;
  /** The hash of the identities of its files when they last had that hash. */
  readonly stamp: string;
  readonly agreed: readonly PluginCapability[];
  readonly isEnabled: boolean;
  /** A marketplace's description of it. */
  readonly entry?: JsonObject;
};

/** Where a plugin is from; `plugin` is its name in a marketplace there. */
export type PluginSource = { readonly plugin?: string } & (
  | { readonly type: "folder"; readonly path: string }
  | { readonly type: "git"; readonly url: string; readonly ref?: string; readonly commit: string }
);

type StoreWorld = Pick<World, "disk" | "files" | "random">;

const installedFile = (home: string): string => join(home, "plugins", "installed.json");

/** The folder of a plugin's content. */
export const contentFolder = (home: string, hash: string): string => join(home, "plugins", "content", hash);

/** The folder a plugin may write to. */
export const dataFolder = (home: string, name: string): string => join(home, "plugins", "data", name);

/** Reads the list of added plugins. Without one, this is a single failed open. An invalid list is an error. */
export const readInstalledPlugins = async (
  { files }: Pick<World, "files">,
  home: string,
): Promise<readonly InstalledPlugin[]> => {
  const text = await files.read(installedFile(home));
  if (text === undefined) return [];
  const list: unknown = JSON.parse(text);
  if (!isObject(list) || list["version"] !== 1 || !Array.isArray(list["plugins"]))
    throw new Error(`${installedFile(home)} is not a list of plugins.`);
  return list["plugins"].filter(isInstalledPlugin);
};

const isInstalledPlugin = (value: unknown): value is InstalledPlugin =>
  isObject(value) &&
  typeof value["name"] === "string" &&
  isPluginName(value["name"]) &&
  isObject(value["source"]) &&
  typeof value["hash"] === "string" &&
  /^[0-9a-f]{64}$/.test(value["hash"]) &&
  typeof value["stamp"] === "string" &&
  Array.isArray(value["agreed"]) &&
  value["agreed"].every((kind) => (pluginCapabilities as readonly unknown[]).includes(kind)) &&
  typeof value["isEnabled"] === "boolean";

/** Replaces the record of a plugin, or removes it. */
export const writeInstalledPlugin = (
  world: SettingsWriteWorld & Pick<World, "files">,
  home: string,
  { name, plugin }: { readonly name: string; readonly plugin: InstalledPlugin | undefined },
): Promise<void> =>
  withSettingsLock(world, home, async () => {
    const others = (await readInstalledPlugins(world, home)).filter((each) => each.name !== name);
    const plugins = [...others, ...(plugin === undefined ? [] : [plugin])].toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    );
    await world.files.writePrivate(installedFile(home), `${JSON.stringify({ version: 1, plugins }, undefined, 2)}\n`);
  });

/**
 * Copies files into Parley's folder, under their hash. Returns the stamp of the copy. Throws a `PluginSourceError` if the
 * files are not those of the hash, e.g. because they changed after they were shown.
 */
export const storeContent = async (
  world: StoreWorld,
  home: string,
  tree: PluginTree,
  hash: string,
): Promise<string> => {
  const { disk } = world;
  const path = contentFolder(home, hash);
  const readCopy = async (): Promise<PluginTree | undefined> => {
    const root = await disk.canonicalPath(path);
    return root === undefined ? undefined : readDiskTree(disk, root).catch(() => undefined);
  };
  const existing = await readCopy();
  if (existing !== undefined && (await hashTree(existing)) === hash) return hashIdentities(existing);
  await removeContent(disk, home, hash);
  await withTemporaryFolder(world, home, async (temporary, parent) => {
    const folder = await parent.openFolder(temporary);
    await copyFiles(folder, tree).finally(folder.close);
    if ((await hashTree(await readDiskTree(disk, join(parent.path, temporary)))) !== hash)
      throw new PluginSourceError("Its files changed while they were read. Nothing was changed; try again.");
    await parent.rename(temporary, hash);
  });
  return hashIdentities((await readCopy()) ?? tree);
};

/**
 * Lists the copied files of a plugin. Bytecode that Python wrote beside them is removed: it is no part of the agreement,
 * and Python would run it instead of the files.
 */
export const readStoredTree = async (disk: Disk, root: string): Promise<PluginTree> => {
  const tree = await readDiskTree(disk, root);
  for (const folder of new Set(tree.files.flatMap(({ path }) => bytecodeParent(path) ?? [])))
    await removePath(disk, join(root, folder), "__pycache__");
  return withoutBytecode(tree);
};

/** Removes content that no plugin has any more. */
export const removeUnusedContent = async (world: StoreWorld, home: string, hash: string): Promise<void> => {
  const isUsed = (await readInstalledPlugins(world, home)).some((plugin) => plugin.hash === hash);
  if (!isUsed) await removeContent(world.disk, home, hash);
};

/** Removes content, used or not. */
export const removeContent = (disk: Disk, home: string, hash: string): Promise<void> =>
  removePath(disk, join(home, "plugins", "content"), hash);

/** Removes what a plugin wrote. */
export const removeData = (disk: Disk, home: string, name: string): Promise<void> =>
  removePath(disk, join(home, "plugins", "data"), name);

/** Runs work with a new folder beside the contents, which is removed afterwards unless it was renamed. */
export const withTemporaryFolder = async <Result>(
  { disk, random }: Pick<World, "disk" | "random">,
  home: string,
  work: (name: string, parent: Folder) => Promise<Result>,
): Promise<Result> => {
  const parent = await disk.openFolder(await ensureFolder(disk, join(home, "plugins", "content")));
  const name = `new-${Math.floor(random() * 2 ** 48).toString(16)}`;
  try {
    await parent.makeFolder(name, 0o700);
    return await work(name, parent);
  } finally {
    await removeTree(parent, name);
    await parent.close();
  }
};

/** Returns the canonical path of a folder, creating it, readable by its owner alone, if it is missing. */
export const ensureFolder = async (disk: Disk, path: string): Promise<string> => {
  const existing = await disk.canonicalPath(path);
  if (existing !== undefined) return existing;
  const parent = await disk.openFolder(await ensureFolder(disk, dirname(path)));
  try {
    await parent.makeFolder(basename(path), 0o700);
    return join(parent.path, basename(path));
  } finally {
    await parent.close();
  }
};

/** Writes the files of a tree into an empty folder. */
export const copyFiles = async (root: Folder, tree: PluginTree): Promise<void> => {
  for (const { path, isExecutable } of tree.files) {
    const names = path.split("/");
    const bytes = await tree.read(path);
    const open: Folder[] = [];
    try {
      let folder = root;
      for (const name of names.slice(0, -1)) {
        await folder.makeFolder(name, 0o700);
        folder = await folder.openFolder(name);
        open.push(folder);
      }
      await writeNewFile(folder, names.at(-1) ?? "", bytes, isExecutable);
    } finally {
      for (const folder of open.toReversed()) await folder.close();
    }
  }
};

/** Only an executable needs its mode set. Others are appended, without a flush for each: the list of plugins is written later. */
const writeNewFile = async (folder: Folder, name: string, bytes: Uint8Array, isExecutable: boolean): Promise<void> => {
  if (isExecutable) return void (await folder.writeFile(name, bytes, 0o700));
  const file = await folder.openAppend(name);
  await file.append(bytes).finally(file.close);
};

/** Removes a file or a folder with everything in it, by its name in a folder. */
export const removePath = async (disk: Disk, parent: string, name: string): Promise<void> => {
  const path = await disk.canonicalPath(parent);
  if (path === undefined) return;
  const folder = await disk.openFolder(path);
  await removeTree(folder, name).finally(folder.close);
};

const removeTree = async (parent: Folder, name: string): Promise<void> => {
  if ((await parent.stat(name))?.kind === "folder") {
    const folder = await parent.openFolder(name);
    const names: string[] = [];
    for await (const each of folder.list()) names.push(each.name);
    for (const each of names) await removeTree(folder, each);
    await folder.close();
  }
  await parent.remove(name);
};
