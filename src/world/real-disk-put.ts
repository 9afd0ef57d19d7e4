import { constants, type BigIntStats } from "node:fs";
import { DiskError } from "./disk.ts";
import { temporaryName } from "./disk-names.ts";
import type { Spot } from "./real-disk-spot.ts";
import { lstat, open, rename, unlink, type Handle } from "./system.ts";

/** What to put where. Without a mode, that of the file before is kept, or a new file gets the usual one. */
export type Parcel = { readonly name: string; readonly bytes: Uint8Array; readonly mode: number | undefined };

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Puts a file in a folder as a whole and flushed, or not at all. Whatever stood under the name, a link too,
 * is replaced; other hard links to it keep the old bytes.
 */
export const putFile = async (spot: Spot, { name, bytes, mode }: Parcel): Promise<BigIntStats> => {
  const before = await lstat(spot.at(name)).catch(() => undefined);
  if (before?.isDirectory() === true) throw new DiskError("EISDIR", `${spot.path}: ${name} is a folder`);
  const kept = mode ?? (before?.isFile() === true ? Number(before.mode) & 0o777 : undefined);
  const temporary = temporaryName();
  const path = spot.at(temporary);
  const handle = await open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, kept === undefined ? 0o666 : 0o600);
  try {
    await spot.confirm(temporary, await handle.stat());
    await handle.write(bytes);
    if (before?.isFile() === true) await keepOwner(handle, before);
    if (kept !== undefined) await handle.chmod(kept);
    await handle.datasync();
    await spot.verify();
    await rename(path, spot.at(name));
    await flushFolder(spot.handle);
    return await handle.stat();
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
};

/** Only root may give files away; everyone else's edit makes the file theirs. */
const keepOwner = async (handle: Handle, { uid, gid }: BigIntStats): Promise<void> => {
  const mine = await handle.stat();
  if (mine.uid !== uid || mine.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => undefined);
};

/** Makes a folder's names survive a power loss. Windows, and some network drives, cannot do that. */
export const flushFolder = async (folder: Handle): Promise<void> => {
  try {
    await folder.sync();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "EINVAL" && code !== "EPERM" && code !== "ENOTSUP" && code !== "EBADF") throw error;
  }
};
