import { join } from "node:path";
import { settingsFilePath } from "../../settings/load/load.ts";
import { withSettingsLock } from "../../settings/file/with-settings-lock.ts";
import { setSetting } from "../../settings/file/write.ts";
import { formatKeyPath } from "../../settings/schema/key-path.ts";
import type { Folder } from "../../world/disk.ts";
import { applyPermissionChanges, type ImportTarget, type PermissionChange } from "../permissions/import.ts";
import type { FoundServer } from "./servers.ts";

/** The changes of one adoption. */
export type Adoption = {
  readonly permissions: readonly PermissionChange[];
  readonly servers: readonly FoundServer[];
  readonly contextFileNames: readonly string[];
};

/** Applies an adoption to the person's own settings and rules, after a backup of both. */
export const takeOver = async (
  { permissions, servers, contextFileNames }: Adoption,
  target: ImportTarget & { readonly currentContextFileNames: readonly string[] },
): Promise<void> => {
  const { world, home } = target;
  const before = await readState(target);
  // Written first, so that a crash in between can be undone too.
  await writeBackup(target, { before, after: null });
  await applyPermissionChanges(permissions, target);
  for (const { name, settings } of servers)
    await setSetting(world, home, formatKeyPath(["mcpServers", name]), settings);
  if (contextFileNames.length > 0)
    await setSetting(world, home, "context.fileName", [...target.currentContextFileNames, ...contextFileNames]);
  await writeBackup(target, { before, after: await readState(target) });
};

/** The outcome of an undo: done, nothing to undo, or refused because of a later change. */
type UndoOutcome = "done" | "nothing" | "changed";

/** Reverses the last adoption: the settings file and the stored rules are as before it. Refuses if they changed since. */
export const undoAdoption = async (target: ImportTarget): Promise<UndoOutcome> => {
  const { world, home } = target;
  const text = await world.files.read(join(home, "adopt", backupName)).catch(() => undefined);
  if (text === undefined) return "nothing";
  const { before, after } = JSON.parse(text) as Backup;
  const current = await readState(target);
  if (after !== null && JSON.stringify(current) !== JSON.stringify(after)) return "changed";
  await withFolder(target, home, async (folder) => {
    if (before.settings === null) await folder.remove("settings.json").catch(() => undefined);
    else await folder.writeFile("settings.json", new TextEncoder().encode(before.settings), 0o600);
  });
  const added = current.rules.filter((name) => !before.rules.includes(name));
  if (added.length > 0)
    await withFolder(target, join(home, "permissions"), async (folder) => {
      for (const name of added) await folder.remove(name);
    });
  await withFolder(target, join(home, "adopt"), (folder) => folder.remove(backupName));
  return "done";
};

const backupName = "last.json";

/** The settings file, and the names of the stored rules, which are hashes of their content. */
type AdoptedState = { readonly settings: string | null; readonly rules: readonly string[] };

/** `after` is null while an adoption runs, and stays so if it crashed. */
type Backup = { readonly before: AdoptedState; readonly after: AdoptedState | null };

const readState = async (target: ImportTarget): Promise<AdoptedState> => {
  const { world, home } = target;
  const rules: string[] = [];
  if ((await world.disk.canonicalPath(join(home, "permissions"))) !== undefined)
    await withFolder(target, join(home, "permissions"), async (folder) => {
      for await (const { name } of folder.list()) rules.push(name);
    });
  return { settings: (await world.files.read(settingsFilePath(home))) ?? null, rules: rules.sort() };
};

const writeBackup = async (target: ImportTarget, backup: Backup): Promise<void> => {
  const { home, world } = target;
  // Creates the home folder if it is missing.
  await withSettingsLock(world, home, async () => undefined);
  await withFolder(target, home, async (folder) => {
    if ((await folder.stat("adopt")) === undefined) await folder.makeFolder("adopt", 0o700);
  });
  await withFolder(target, join(home, "adopt"), (folder) =>
    folder.writeFile(backupName, new TextEncoder().encode(`${JSON.stringify(backup)}\n`), 0o600),
  );
};

const withFolder = async (
  { world: { disk } }: ImportTarget,
  path: string,
  work: (folder: Folder) => Promise<unknown>,
): Promise<void> => {
  const folder = await disk.openFolder((await disk.canonicalPath(path)) ?? path);
  try {
    await work(folder);
  } finally {
    await folder.close();
  }
};
