import { join } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";
import type { World } from "../../world/world.ts";
import { openFolder, withFolder } from "./folders.ts";
import { lockFolder } from "./lock.ts";
import { listSessionIds, listNames, listProjectFolders } from "./locate.ts";

/*
 * Files of a session outside its project's folder: long tool outputs in `scratch/<id>/`, and snapshots for a rewind in
 * `snapshots/<id>.json`.
 */
const sideFolders: readonly { readonly name: string; readonly kind: "folder" | "file"; readonly extension: string }[] =
  [
    { name: "scratch", kind: "folder", extension: "" },
    { name: "snapshots", kind: "file", extension: ".json" },
  ];

/** Removes the files of a session outside its project's folder. */
export const removeSideFiles = async (disk: Disk, home: string, id: string): Promise<void> => {
  for (const { name, extension } of sideFolders) {
    const folder = await openFolder(disk, join(home, name));
    if (folder !== undefined) await withFolder(folder, (open) => removeEntry(open, `${id}${extension}`));
  }
};

/** Removes the side files of sessions that no longer exist. A locked session counts as existing: it may be in use. */
export const removeOrphanedSideFiles = async ({ disk }: Pick<World, "disk">, home: string): Promise<void> => {
  for (const { name, kind, extension } of sideFolders) {
    const folder = await openFolder(disk, join(home, name));
    if (folder === undefined) continue;
    await withFolder(folder, async (open) => {
      // Listed before the sessions: a session's log exists before its side files.
      const names = (await listNames(open, kind)).filter((each) => each.endsWith(extension));
      const known = names.length === 0 ? new Set<string>() : await listKnownIds(disk, home);
      for (const each of names)
        if (!known.has(each.slice(0, each.length - extension.length))) await removeEntry(open, each);
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

/** Removes a file, or a folder that contains only files. */
const removeEntry = async (parent: Folder, name: string): Promise<void> => {
  const kind = (await parent.stat(name))?.kind;
  if (kind === "file") await parent.remove(name);
  if (kind !== "folder") return;
  await withFolder(await parent.openFolder(name), async (folder) => {
    for (const file of await listNames(folder, "file")) await folder.remove(file);
  });
  await parent.remove(name).catch(() => undefined);
};
