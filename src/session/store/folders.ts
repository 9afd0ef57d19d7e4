import { basename, dirname } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";

/** Opens a folder, following links; undefined if there is none. The caller closes it. */
export const openFolder = async (disk: Disk, path: string): Promise<Folder | undefined> => {
  const found = await disk.canonicalPath(path);
  return found === undefined ? undefined : disk.openFolder(found);
};

/** Opens a folder, creating it with mode 0700 if it is missing. The caller closes it. */
export const ensureFolder = async (disk: Disk, path: string): Promise<Folder> => {
  const found = await openFolder(disk, path);
  if (found !== undefined) return found;
  return withFolder(await ensureFolder(disk, dirname(path)), (parent) => ensureSubfolder(parent, basename(path)));
};

/** Opens a subfolder, creating it if it is missing. */
export const ensureSubfolder = async (parent: Folder, name: string): Promise<Folder> => {
  if ((await parent.stat(name)) === undefined) {
    await parent.makeFolder(name, 0o700);
    await parent.flush();
  }
  return parent.openFolder(name);
};

/** Runs a function with a folder and closes the folder afterwards. */
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
