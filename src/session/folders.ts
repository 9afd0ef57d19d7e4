import { basename, dirname } from "node:path";
import type { Disk, Folder } from "../world/disk.ts";

/** The folder at a path, links followed; undefined when there is none. Close it. */
export const folderAt = async (disk: Disk, path: string): Promise<Folder | undefined> => {
  const found = await disk.canonical(path);
  return found === undefined ? undefined : disk.open(found);
};

/** The folder at a path, which is made, for its owner alone, if it is not there. Close it. */
export const madeFolder = async (disk: Disk, path: string): Promise<Folder> => {
  const found = await folderAt(disk, path);
  if (found !== undefined) return found;
  return within(await madeFolder(disk, dirname(path)), (parent) => madeIn(parent, basename(path)));
};

/** The folder of this name in another, made if it is not there. */
export const madeIn = async (parent: Folder, name: string): Promise<Folder> => {
  if ((await parent.look(name)) === undefined) {
    await parent.makeFolder(name, 0o700);
    await parent.flush();
  }
  return parent.folder(name);
};

/** Works in a folder and closes it afterwards. */
export const within = async <Result>(folder: Folder, work: (folder: Folder) => Promise<Result>): Promise<Result> => {
  try {
    return await work(folder);
  } finally {
    await folder.close();
  }
};
