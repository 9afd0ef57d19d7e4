import { delimiter, isAbsolute } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { isInside } from "../workspace/paths.ts";

/** Where programs are when nothing better is known. */
export const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * The folders of a search path where a project can have put nothing: absolute, there, outside the roots, and not
 * for everybody to write in. The usual ones where none is left.
 */
export const filterTrustedSearchPath = async (disk: Disk, path: string, roots: readonly string[]): Promise<string> => {
  const places = [...roots, ...(await Promise.all(roots.map((root) => realPath(disk, root))))];
  const folders = await Promise.all(
    path.split(delimiter).map(async (folder) => {
      if (!isAbsolute(folder) || places.some((root) => isInside(folder, root))) return [];
      const real = await realPath(disk, folder);
      return places.some((root) => isInside(real, root)) || (await isWorldWritable(disk, real)) ? [] : [folder];
    }),
  );
  return folders.flat().join(delimiter) || defaultSearchPath;
};

/** Where a folder really is; itself where that cannot be told. */
const realPath = (disk: Disk, path: string): Promise<string> =>
  disk.canonicalPath(path).then(
    (real) => real ?? path,
    () => path,
  );

/** Whether others may write there. What cannot be looked at holds no programs either. */
const isWorldWritable = async (disk: Disk, path: string): Promise<boolean> => {
  try {
    const folder = await disk.openFolder(path);
    try {
      return ((await folder.statSelf()).mode & 0o002) !== 0;
    } finally {
      await folder.close();
    }
  } catch {
    return true;
  }
};
