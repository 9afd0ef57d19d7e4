import { join } from "node:path";
import { setSetting } from "../../settings/file/write.ts";
import { formatKeyPath } from "../../settings/schema/key-path.ts";
import type { HookSettings } from "../../settings/schema/values.ts";
import { addHooks } from "../hooks/import-hooks.ts";
import { applyPermissionChanges, type ImportTarget, type PermissionChange } from "../permissions/import.ts";
import {
  lastAdoption,
  readAdoptedState,
  readBackup,
  removeBackup,
  withFolder,
  writeBackup,
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
};

/** The person's settings that an adoption adds to. */
export type AdoptionTarget = ImportTarget & {
  readonly currentContextFileNames: readonly string[];
  readonly currentHooks: HookSettings;
};

/** An adoption that was applied. */
export type AppliedAdoption = {
  /** Files that could not be copied, and why. */
  readonly problems: readonly string[];
  /** Adds an imported session to what an undo removes. */
  readonly recordSession: (session: AdoptedSession) => Promise<void>;
};

/** Applies an adoption to the person's own settings, rules and folders, after a backup. */
export const takeOver = async (adoption: Adoption, target: AdoptionTarget): Promise<AppliedAdoption> => {
  const { permissions, servers, contextFileNames, hooks, copies } = adoption;
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

/** The outcome of an undo: done, nothing to undo, or refused because settings or rules changed later. */
export type UndoOutcome =
  | {
      readonly type: "done";
      /** Copied files that stay, because they changed. */
      readonly kept: readonly CopiedAsset[];
      /** The imported sessions, which the caller removes. */
      readonly sessions: readonly AdoptedSession[];
    }
  | { readonly type: "nothing" }
  | { readonly type: "changed"; readonly number: number };

/** Reverses the last adoption that was not reversed yet: settings, rules and copied files are as before it. */
export const undoAdoption = async (target: ImportTarget): Promise<UndoOutcome> => {
  const { world, home } = target;
  const number = await lastAdoption(target);
  const backup = number === 0 ? undefined : await readBackup(target, number);
  if (backup === undefined) return { type: "nothing" };
  const { before, after, copied, sessions } = backup;
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
  await removeBackup(target, number);
  return { type: "done", kept, sessions };
};
