import { constants } from "node:fs";
import { DiskError } from "../../disk.ts";
import type { SyncFileCalls } from "../sync-file-calls.ts";

/** A folder for a program to start in. Release it once the program has started. */
export type PinnedFolder = { readonly path: string; readonly release: () => void };

// Undefined on Windows.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Opens the folder at a canonical path and keeps it open, so that it cannot be swapped before a program has started in
 * it. Where the system has no path for an open folder, the path is only checked.
 */
export const pinFolder = async ({ open, readlink, realpath }: SyncFileCalls, path: string): Promise<PinnedFolder> => {
  const handle = await open(path, constants.O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  const release = (): void => void handle.close().catch(() => undefined);
  try {
    const held = `/proc/self/fd/${handle.fd}`;
    const real = await readlink(held).catch(() => undefined);
    if ((real ?? (await realpath(path))) !== path) throw new DiskError("ELOOP", `There is a link in the path ${path}.`);
    // The child inherits this descriptor under the same number until exec.
    return { path: real === undefined ? path : held, release };
  } catch (error) {
    release();
    throw error;
  }
};
