import { DiskError, type EntryKind } from "../../disk.ts";
import type { SyncFileCalls } from "../sync-file-calls.ts";

/**
 * Lists the names in a folder in one call. A link in the path is detected before or after; a link swapped in between
 * can reveal only names.
 */
export const listNamesAt = async (
  calls: SyncFileCalls,
  path: string,
): Promise<readonly { readonly name: string; readonly kind: EntryKind }[]> => {
  const { size, ...kinds } = await statFolder(calls, path);
  if (kinds.isLink) throw new DiskError("ELOOP", `Could not list ${path}: it is a link`);
  if (!kinds.isFolder) throw new DiskError("ENOTDIR", `Could not list ${path}: not a folder`);
  // File systems count differently, but on all of them this means tens of thousands of names.
  if (size > 2 ** 20) throw new DiskError("E2BIG", `Could not list ${path}: it has too many entries`);
  const items = await calls.readdir(path);
  if ((await calls.realpath(path)) !== path)
    throw new DiskError("ELOOP", `Could not list ${path}: there is a link in the path`);
  return items.map((item) => ({
    name: item.name,
    kind: item.isFile() ? "file" : item.isDirectory() ? "folder" : item.isSymbolicLink() ? "link" : "other",
  }));
};

const statFolder = async (
  { lstat }: SyncFileCalls,
  path: string,
): Promise<{ readonly size: number; readonly isFolder: boolean; readonly isLink: boolean }> => {
  const found = await lstat(path);
  return { size: Number(found.size), isFolder: found.isDirectory(), isLink: found.isSymbolicLink() };
};
