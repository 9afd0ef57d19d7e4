import { basename, dirname } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";

/** The folder at a path, links followed; undefined when there is none. Close it. */
export const openFolder = async (disk: Disk, path: string): Promise<Folder | undefined> => {
  const found = await disk.canonicalPath(path);
  return found === undefined ? undefined : disk.openFolder(found);
};

/** The folder at a path, which is made, for its owner alone, if it is not there. Close it. */
export const ensureFolder = async (disk: Disk, path: string): Promise<Folder> => {
  const found = await openFolder(disk, path);
  if (found !== undefined) return found;
  return withFolder(await ensureFolder(disk, dirname(path)), (parent) => ensureSubfolder(parent, basename(path)));
};

/** The folder of this name in another, made if it is not there. */
export const ensureSubfolder = async (parent: Folder, name: string): Promise<Folder> => {
  if ((await parent.stat(name)) === undefined) {
    await parent.makeFolder(name, 0o700);
    await parent.flush();
  }
  return parent.openFolder(name);
};

/** Works in a folder and closes it afterwards. */
export const withFolder = async <Result>(
  folder: Folder,
  work: (folder: Folder) => Promise<Result>,
): Promise<Result> => {
  try {
    return await work(folder);
  } finally {
    await folder.close();
  }
};
