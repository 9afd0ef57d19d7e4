import { basename, dirname, join } from "node:path";
import type { Disk } from "./disk.ts";

/** Returns the canonical path of a folder. Missing folders on the way are created, accessible to their owner only. */
export const ensureFolderPath = async (disk: Disk, path: string): Promise<string> => {
  const existing = await disk.canonicalPath(path);
  if (existing !== undefined) return existing;
  const parent = await ensureFolderPath(disk, dirname(path));
  const folder = await disk.openFolder(parent);
  try {
    await folder.makeFolder(basename(path), 0o700);
    return join(parent, basename(path));
  } finally {
    await folder.close();
  }
};
