import { join } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { openFolder, withFolder } from "./folders.ts";
import { lockFolder } from "./lock.ts";
import { listSessionIds, listNames, listProjectFolders } from "./locate.ts";

/*
 * What is kept for a session outside its project's folder: long texts in `scratch/<id>/`, and what a rewind needs in
 * `snapshots/<id>.json`.
 */
const sideFolders: readonly { readonly name: string; readonly kind: "folder" | "file"; readonly ending: string }[] = [
  { name: "scratch", kind: "folder", ending: "" },
  { name: "snapshots", kind: "file", ending: ".json" },
];

/** Removes all that is kept for a session outside its project's folder. */
export const removeSideFiles = async (disk: Disk, home: string, id: string): Promise<void> => {
  for (const { name, ending } of sideFolders) {
    const folder = await openFolder(disk, join(home, name));
    if (folder !== undefined) await withFolder(folder, (open) => removeEntry(open, `${id}${ending}`));
  }
};

/** The same for sessions that are gone. One with a lock of its own is not: somebody may be in it. */
export const removeOrphanedSideFiles = async ({ disk }: Pick<World, "disk">, home: string): Promise<void> => {
  for (const { name, kind, ending } of sideFolders) {
    const folder = await openFolder(disk, join(home, name));
    if (folder === undefined) continue;
    await withFolder(folder, async (open) => {
      // Listed before the sessions are: a session has its own file first.
      const kept = (await listNames(open, kind)).filter((each) => each.endsWith(ending));
      const known = kept.length === 0 ? new Set<string>() : await listKnownIds(disk, home);
      for (const each of kept)
        if (!known.has(each.slice(0, each.length - ending.length))) await removeEntry(open, each);
    });
  }
};

const listKnownIds = async (disk: Disk, home: string): Promise<ReadonlySet<string>> => {
  const known = new Set<string>();
  for (const path of await listProjectFolders({ disk, base: join(home, "sessions") }))
    for (const id of [...(await listSessionIds(disk, path)), ...(await listLockedIds(disk, path))]) known.add(id);
  return known;
};

const listLockedIds = async (disk: Disk, project: string): Promise<readonly string[]> => {
  const locks = await openFolder(disk, join(project, lockFolder));
  if (locks === undefined) return [];
  return withFolder(locks, async (open) => (await listNames(open, "file")).map((name) => name.split(".")[0] ?? ""));
};

/** Removes a file, or a folder of files; a folder with anything else in it stays. */
const removeEntry = async (parent: Folder, name: string): Promise<void> => {
  const kind = (await parent.stat(name))?.kind;
  if (kind === "file") await parent.remove(name);
  if (kind !== "folder") return;
  await withFolder(await parent.openFolder(name), async (folder) => {
    for (const file of await listNames(folder, "file")) await folder.remove(file);
  });
  await parent.remove(name).catch(() => undefined);
};
