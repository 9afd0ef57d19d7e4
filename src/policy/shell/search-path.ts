import { delimiter, isAbsolute } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { isInside } from "../workspace/paths.ts";

/** The search path to use if PATH is not set. */
export const defaultSearchPath = "/usr/local/bin:/usr/bin:/bin";

/**
 * Filters a search path to the folders where a project cannot have put programs: absolute, existing, outside the
 * workspace, and not world-writable. Returns the default search path if none is left.
 */
export const filterTrustedSearchPath = async (disk: Disk, path: string, roots: readonly string[]): Promise<string> => {
  const rootPaths = [...roots, ...(await Promise.all(roots.map((root) => realPath(disk, root))))];
  const folders = await Promise.all(
    path.split(delimiter).map(async (folder) => {
      if (!isAbsolute(folder) || rootPaths.some((root) => isInside(folder, root))) return [];
      const canonicalPath = await realPath(disk, folder);
      return rootPaths.some((root) => isInside(canonicalPath, root)) || (await isWorldWritable(disk, canonicalPath))
        ? []
        : [folder];
    }),
  );
  return folders.flat().join(delimiter) || defaultSearchPath;
};

/** The canonical path of a folder; the path itself if it cannot be resolved. */
const realPath = (disk: Disk, path: string): Promise<string> =>
  disk.canonicalPath(path).then(
    (canonicalPath) => canonicalPath ?? path,
    () => path,
  );

/** Whether every user may write in a folder. A folder that cannot be opened counts as such. */
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
