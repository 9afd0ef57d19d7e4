import { join } from "node:path";
import { setSetting } from "../../settings/file/write.ts";
import { formatKeyPath } from "../../settings/schema/key-path.ts";
import type { HookSettings } from "../../settings/schema/values.ts";
import type { World } from "../../world/world.ts";
import { addHooks } from "../hooks/import-hooks.ts";
import { applyPermissionChanges, type ImportTarget, type PermissionChange } from "../permissions/import.ts";
import { findInstalledPlugin, installPlugin, uninstallPlugin, type AgreedPlugin } from "../plugins/install.ts";
import {
  lastAdoption,
  readAdoptedState,
  readBackup,
  removeBackup,
  withFolder,
  writeBackup,
  type AdoptedPlugin,
  type AdoptedSession,
  type AdoptionBackup,
} from "./backup.ts";
import { copyAssets, removeCopies, type AssetCopy, type CopiedAsset } from "./copy-assets.ts";
import type { FoundServer } from "./servers.ts";

/** The changes of one adoption. */
export type Adoption = {
  readonly permissions: readonly PermissionChange[];
  readonly servers: readonly FoundServer[];
  readonly contextFileNames: readonly string[];
  readonly hooks: HookSettings;
  readonly copies: readonly AssetCopy[];
  readonly plugins: readonly AgreedPlugin[];
};

/** Parley's folders, with the one of plugins. */
export type UndoTarget = ImportTarget & { readonly pluginHome: string; readonly world: Pick<World, "random"> };

/** The person's settings that an adoption adds to. */
export type AdoptionTarget = UndoTarget & {
  readonly currentContextFileNames: readonly string[];
  readonly currentHooks: HookSettings;
};

/** An adoption that was applied. */
export type AppliedAdoption = {
  /** Files that could not be copied and plugins that could not be added, and why. */
  readonly problems: readonly string[];
  /** Adds an imported session to what an undo removes. */
  readonly recordSession: (session: AdoptedSession) => Promise<void>;
};

/** Applies an adoption to the person's own settings, rules and folders, after a backup. */
export const takeOver = async (adoption: Adoption, target: AdoptionTarget): Promise<AppliedAdoption> => {
  const { permissions, servers, contextFileNames, hooks, copies, plugins } = adoption;
  const { world, home } = target;
  const number = (await lastAdoption(target)) + 1;
  const before = await readAdoptedState(target);
  let backup: AdoptionBackup = { before, after: null, copied: [], sessions: [] };
  // Written first, so that a crash in between can be undone too.
  await writeBackup(target, number, backup);
  await applyPermissionChanges(permissions, target);
  for (const { name, settings } of servers)
    await setSetting(world, home, formatKeyPath(["mcpServers", name]), settings);
  if (contextFileNames.length > 0)
    await setSetting(world, home, "context.fileName", [...target.currentContextFileNames, ...contextFileNames]);
  if (Object.keys(hooks).length > 0) await setSetting(world, home, "hooks", addHooks(target.currentHooks, hooks));
  const problems: string[] = [];
  for (const copy of copies) {
    const result = await copyAssets(world.disk, home, copy);
    problems.push(...result.problems);
    backup = { ...backup, copied: [...backup.copied, ...result.copied] };
  }
  for (const plugin of plugins) {
    const { name } = plugin.plugin;
    const problem = await addPlugin(target, plugin);
    if (problem === undefined)
      backup = { ...backup, plugins: [...(backup.plugins ?? []), { name, hash: plugin.hash }] };
    else problems.push(`plugin ${name}: ${problem}`);
  }
  backup = { ...backup, after: await readAdoptedState(target) };
  await writeBackup(target, number, backup);
  return {
    problems,
    recordSession: async (session) => {
      backup = { ...backup, sessions: [...backup.sessions, session] };
      await writeBackup(target, number, backup);
    },
  };
};

/** Adds a plugin. Returns why it could not be added. */
const addPlugin = async ({ world, pluginHome }: UndoTarget, plugin: AgreedPlugin): Promise<string | undefined> => {
  if ((await findInstalledPlugin(world, pluginHome, plugin.plugin.name)) !== undefined)
    return "there is a plugin of this name already";
  try {
    await installPlugin(world, pluginHome, plugin);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
};

/** Removes plugins that were not updated since. Returns the others. */
const removePlugins = async (
  { world, pluginHome }: UndoTarget,
  plugins: readonly AdoptedPlugin[],
): Promise<readonly AdoptedPlugin[]> => {
  const kept: AdoptedPlugin[] = [];
  for (const plugin of plugins) {
    const installed = await findInstalledPlugin(world, pluginHome, plugin.name);
    if (installed?.hash === plugin.hash) await uninstallPlugin(world, pluginHome, installed);
    else if (installed !== undefined) kept.push(plugin);
  }
  return kept;
};

/** The outcome of an undo: done, nothing to undo, or refused because settings or rules changed later. */
export type UndoOutcome =
  | {
      readonly type: "done";
      /** Copied files that stay, because they changed. */
      readonly kept: readonly CopiedAsset[];
      /** Plugins that stay, because they were updated. */
      readonly keptPlugins: readonly AdoptedPlugin[];
      /** The imported sessions, which the caller removes. */
      readonly sessions: readonly AdoptedSession[];
    }
  | { readonly type: "nothing" }
  | { readonly type: "changed"; readonly number: number };

/** Reverses the last adoption that was not reversed yet: settings, rules and copied files are as before it. */
export const undoAdoption = async (target: UndoTarget): Promise<UndoOutcome> => {
  const { world, home } = target;
  const number = await lastAdoption(target);
  const backup = number === 0 ? undefined : await readBackup(target, number);
  if (backup === undefined) return { type: "nothing" };
  const { before, after, copied, sessions, plugins = [] } = backup;
  const current = await readAdoptedState(target);
  if (after !== null && JSON.stringify(current) !== JSON.stringify(after)) return { type: "changed", number };
  await withFolder(target, home, async (folder) => {
    if (before.settings === null) await folder.remove("settings.json").catch(() => undefined);
    else await folder.writeFile("settings.json", new TextEncoder().encode(before.settings), 0o600);
  });
  const added = current.rules.filter((name) => !before.rules.includes(name));
  if (added.length > 0)
    await withFolder(target, join(home, "permissions"), async (folder) => {
      for (const name of added) await folder.remove(name);
    });
  const kept = await removeCopies(world.disk, home, copied);
  const keptPlugins = await removePlugins(target, plugins);
  await removeBackup(target, number);
  return { type: "done", kept, keptPlugins, sessions };
};
