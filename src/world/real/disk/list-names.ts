import { DiskError, type EntryKind } from "../../disk.ts";
import { lstat, readdir, realpath } from "../sync-file-calls.ts";

/** The names in a folder at once. A link in the path is noticed before or after; all that can be seen through one swapped in between is names. */
export const listNamesAt = async (
  path: string,
): Promise<readonly { readonly name: string; readonly kind: EntryKind }[]> => {
  const { size, ...kinds } = await statFolder(path);
  if (kinds.isLink) throw new DiskError("ELOOP", `Could not list ${path}: it is a link`);
  if (!kinds.isFolder) throw new DiskError("ENOTDIR", `Could not list ${path}: not a folder`);
  // Systems count differently, but on all of them this is tens of thousands of names.
  if (size > 2 ** 20) throw new DiskError("E2BIG", `Could not list ${path}: there is too much in it`);
  const items = await readdir(path);
  if ((await realpath(path)) !== path)
    throw new DiskError("ELOOP", `Could not list ${path}: there is a link in the path`);
  return items.map((item) => ({
    name: item.name,
    kind: item.isFile() ? "file" : item.isDirectory() ? "folder" : item.isSymbolicLink() ? "link" : "other",
  }));
};

const statFolder = async (
  path: string,
): Promise<{ readonly size: number; readonly isFolder: boolean; readonly isLink: boolean }> => {
  const found = await lstat(path);
  return { size: Number(found.size), isFolder: found.isDirectory(), isLink: found.isSymbolicLink() };
};
