import { join } from "node:path";
import { settingsFilePath } from "../../settings/load/load.ts";
import { withSettingsLock } from "../../settings/file/with-settings-lock.ts";
import type { Folder } from "../../world/disk.ts";
import type { ImportTarget } from "../permissions/import.ts";
import type { CopiedAsset } from "./copy-assets.ts";

/** The settings file, and the names of the stored rules, which are hashes of their content. */
export type AdoptedState = { readonly settings: string | null; readonly rules: readonly string[] };

/** Everything that is needed to reverse one adoption. */
export type AdoptionBackup = {
  readonly before: AdoptedState;
  /** Null while the adoption runs, and for good if it crashed. */
  readonly after: AdoptedState | null;
  readonly copied: readonly CopiedAsset[];
  readonly sessions: readonly AdoptedSession[];
  /** The plugins that were added. Absent in backups of earlier versions. */
  readonly plugins?: readonly AdoptedPlugin[];
};

/** A plugin that was added, and the hash of its files. */
export type AdoptedPlugin = { readonly name: string; readonly hash: string };

/** A session that was imported, and the number of its entries at that time. */
export type AdoptedSession = { readonly id: string; readonly entries: number };

/** Reads the settings and the names of the stored rules. */
export const readAdoptedState = async (target: ImportTarget): Promise<AdoptedState> => {
  const { world, home } = target;
  const rules: string[] = [];
  if ((await world.disk.canonicalPath(join(home, "permissions"))) !== undefined)
    await withFolder(target, join(home, "permissions"), async (folder) => {
      for await (const { name } of folder.list()) rules.push(name);
    });
  return { settings: (await world.files.read(settingsFilePath(home))) ?? null, rules: rules.sort() };
};

/** The number of the last adoption that can be reversed; 0 if there is none. */
export const lastAdoption = async (target: ImportTarget): Promise<number> => {
  const path = join(target.home, "adopt");
  if ((await target.world.disk.canonicalPath(path)) === undefined) return 0;
  let last = 0;
  await withFolder(target, path, async (folder) => {
    for await (const { name } of folder.list()) last = Math.max(last, Number(/^(\d{1,6})\.json$/.exec(name)?.[1] ?? 0));
  });
  return last;
};

/** Reads the backup of an adoption. */
export const readBackup = async (
  { world, home }: ImportTarget,
  number: number,
): Promise<AdoptionBackup | undefined> => {
  const text = await world.files.read(backupPath(home, number)).catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as AdoptionBackup);
};

/** Writes the backup of an adoption. */
export const writeBackup = async (target: ImportTarget, number: number, backup: AdoptionBackup): Promise<void> => {
  // Creates the home folder if it is missing.
  await withSettingsLock(target.world, target.home, async () => undefined);
  await target.world.files.writePrivate(backupPath(target.home, number), `${JSON.stringify(backup)}\n`);
};

/** Removes the backup of an adoption. */
export const removeBackup = ({ world, home }: ImportTarget, number: number): Promise<void> =>
  world.files.remove(backupPath(home, number));

/** The file of a backup. */
export const backupPath = (home: string, number: number): string => join(home, "adopt", `${number}.json`);

/** Runs work with an open folder. */
export const withFolder = async (
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
