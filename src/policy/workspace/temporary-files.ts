import { join } from "node:path";
import { isTempName, staleTempAge } from "../../world/file-names.ts";
import type { World } from "../../world/world.ts";

/**
 * Removes stale temporary files that killed programs left in a workspace in the middle of a write. Searches the first
 * thousand folders, those nearest to a root first; elsewhere, the next write in a folder does the same.
 */
export const removeStaleTemporaryFiles = async (
  { disk, clock }: Pick<World, "disk" | "clock">,
  roots: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const folders = [...roots];
  for (let at = 0; at < folders.length && !signal.aborted; at++) {
    const path = folders[at] ?? "";
    // Best effort: errors while listing or removing are ignored.
    const entries = await disk.listNames(path).catch(() => []);
    const temporaryNames = entries.filter(({ name, kind }) => kind === "file" && isTempName(name));
    if (temporaryNames.length > 0)
      await removeOld(
        disk,
        path,
        temporaryNames.map(({ name }) => name),
        clock.now() - staleTempAge,
      ).catch(() => undefined);
    for (const { name, kind } of entries)
      if (kind === "folder" && !skippedFolders.has(name) && folders.length < maxFolders) folders.push(join(path, name));
  }
};

const maxFolders = 1000;

/** Large folders in which tools write nothing. */
const skippedFolders: ReadonlySet<string> = new Set([".git", "node_modules"]);

const removeOld = async (
  disk: World["disk"],
  path: string,
  names: readonly string[],
  before: number,
): Promise<void> => {
  const folder = await disk.openFolder(path);
  try {
    for (const name of names) {
      const entry = await folder.stat(name);
      if (entry?.kind === "file" && entry.modified < before) await folder.remove(name);
    }
  } finally {
    await folder.close();
  }
};
