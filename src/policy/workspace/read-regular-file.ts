import { basename, dirname } from "node:path";
import type { Disk } from "../../world/disk.ts";

/** A regular file: its identity, and its content unless it is larger than the limit. */
export type RegularFile = { readonly identity: string; readonly bytes: Uint8Array | undefined };

/**
 * Reads a regular file of at most `maxBytes` by its absolute path, without following a link at its end. Returns
 * undefined if it does not exist, is not a regular file, or cannot be read.
 */
export const readRegularFile = async (disk: Disk, path: string, maxBytes: number): Promise<RegularFile | undefined> => {
  const folder = await disk.openFolder(dirname(path)).catch(() => undefined);
  try {
    const file = await folder?.openFile(basename(path));
    if (file === undefined) return undefined;
    try {
      const { size, identity } = await file.stat();
      return { identity, bytes: size > maxBytes ? undefined : await file.read(0, size) };
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  } finally {
    await folder?.close();
  }
};
