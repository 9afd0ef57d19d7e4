import { join } from "node:path";
import type { Disk, Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { folderAt, within } from "./folders.ts";
import { lockFolder } from "./occupy.ts";
import { idsIn, namesOf, projectPaths } from "./place.ts";

/*
 * What is kept for a session outside its project's folder: long texts in `scratch/<id>/`, and what a rewind needs in
 * `snapshots/<id>.json`.
 */
const places: readonly { readonly name: string; readonly kind: "folder" | "file"; readonly ending: string }[] = [
  { name: "scratch", kind: "folder", ending: "" },
  { name: "snapshots", kind: "file", ending: ".json" },
];

/** Removes all that is kept for a session outside its project's folder. */
export const removeKeptFiles = async (disk: Disk, home: string, id: string): Promise<void> => {
  for (const { name, ending } of places) {
    const folder = await folderAt(disk, join(home, name));
    if (folder !== undefined) await within(folder, (open) => removeEntry(open, `${id}${ending}`));
  }
};

/** The same for sessions that are gone. One with a lock of its own is not: somebody may be in it. */
export const sweepKeptFiles = async ({ disk }: Pick<World, "disk">, home: string): Promise<void> => {
  for (const { name, kind, ending } of places) {
    const folder = await folderAt(disk, join(home, name));
    if (folder === undefined) continue;
    await within(folder, async (open) => {
      // Listed before the sessions are: a session has its own file first.
      const kept = (await namesOf(open, kind)).filter((each) => each.endsWith(ending));
      const known = kept.length === 0 ? new Set<string>() : await knownIds(disk, home);
      for (const each of kept)
        if (!known.has(each.slice(0, each.length - ending.length))) await removeEntry(open, each);
    });
  }
};

const knownIds = async (disk: Disk, home: string): Promise<ReadonlySet<string>> => {
  const known = new Set<string>();
  for (const path of await projectPaths({ disk, base: join(home, "sessions") }))
    for (const id of [...(await idsIn(disk, path)), ...(await lockedIn(disk, path))]) known.add(id);
  return known;
};

const lockedIn = async (disk: Disk, project: string): Promise<readonly string[]> => {
  const locks = await folderAt(disk, join(project, lockFolder));
  if (locks === undefined) return [];
  return within(locks, async (open) => (await namesOf(open, "file")).map((name) => name.split(".")[0] ?? ""));
};

/** Removes a file, or a folder of files; a folder with anything else in it stays. */
const removeEntry = async (parent: Folder, name: string): Promise<void> => {
  const kind = (await parent.look(name))?.kind;
  if (kind === "file") await parent.remove(name);
  if (kind !== "folder") return;
  await within(await parent.folder(name), async (folder) => {
    for (const file of await namesOf(folder, "file")) await folder.remove(file);
  });
  await parent.remove(name).catch(() => undefined);
};
