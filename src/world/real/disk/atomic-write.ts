import { constants, type BigIntStats } from "node:fs";
import { DiskError } from "../../disk.ts";
import { isTempName, staleTempAge, tempLockName, createTempName } from "../../file-names.ts";
import type { FolderAnchor } from "./folder-anchor.ts";
import {
  lstat,
  readNextEntry,
  open,
  openDirectory,
  rename,
  lstatIfExists,
  unlink,
  type SyncFileHandle,
} from "../sync-file-calls.ts";

/** What to put where. Without a mode, that of the file before is kept, or a new file gets the usual one. */
export type FileWrite = { readonly name: string; readonly bytes: Uint8Array; readonly mode: number | undefined };

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Puts a file in a folder as a whole and flushed, or not at all. Whatever stood under the name, a link too,
 * is replaced; other hard links to it keep the old bytes.
 */
export const writeFileAtomically = async (spot: FolderAnchor, parcel: FileWrite): Promise<BigIntStats> => {
  const temporary = createTempName();
  const before = await statExisting(spot, parcel.name);
  const handle = await createTempFile(spot, temporary, initialMode(parcel, before));
  return commitWrite(spot, parcel, { temporary, handle, before, isUnchanged: () => true });
};

/**
 * The same, if `isStill` holds for what stands there just before the rename. The temporary file has one name for every
 * writer of this file, so it is a lock until it is renamed; one that a killed program left is taken away after a while.
 */
export const replaceFileIfUnchanged = async (
  spot: FolderAnchor,
  parcel: FileWrite,
  isStill: (now: BigIntStats | undefined) => boolean,
): Promise<BigIntStats> => {
  const temporary = tempLockName(parcel.name);
  const before = await statExisting(spot, parcel.name);
  const handle = await createLockFile(spot, temporary, initialMode(parcel, before));
  const written = await commitWrite(spot, parcel, { temporary, handle, before, isUnchanged: isStill });
  await removeStaleTempFiles(spot).catch(() => undefined);
  return written;
};

/** Removes the temporary files that killed programs left among the first names of a folder. */
const removeStaleTempFiles = async (spot: FolderAnchor): Promise<void> => {
  const folder = await openDirectory(spot.childPath("."));
  try {
    for (let count = 0; count < maxNamesScanned; count++) {
      const item = await readNextEntry(folder);
      if (item === null) return;
      if (!item.isFile() || !isTempName(item.name)) continue;
      const found = await lstatIfExists(spot.childPath(item.name));
      if (found !== undefined && isStale(found)) await unlink(spot.childPath(item.name));
    }
  } finally {
    folder.closeSync();
  }
};

const maxNamesScanned = 2000;

const isStale = ({ mtimeMs }: BigIntStats): boolean => Date.now() - Number(mtimeMs) > staleTempAge;

const statExisting = async (spot: FolderAnchor, name: string): Promise<BigIntStats | undefined> => {
  const before = await lstat(spot.childPath(name)).catch(() => undefined);
  if (before?.isDirectory() === true) throw new DiskError("EISDIR", `${spot.path}: ${name} is a folder`);
  return before;
};

/** The mode that was asked for, or that the file before has; undefined for a new file. */
const targetMode = ({ mode }: FileWrite, before: BigIntStats | undefined): number | undefined =>
  mode ?? (before?.isFile() === true ? Number(before.mode) & 0o777 : undefined);

/** Until it has its own, a file is its owner's alone; a new one gets the usual mode. */
const initialMode = (parcel: FileWrite, before: BigIntStats | undefined): number =>
  targetMode(parcel, before) === undefined ? 0o666 : 0o600;

const createTempFile = (spot: FolderAnchor, temporary: string, mode: number): Promise<SyncFileHandle> =>
  open(spot.childPath(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

const createLockFile = async (spot: FolderAnchor, temporary: string, mode: number): Promise<SyncFileHandle> => {
  for (let wait = 1; ; wait = Math.min(2 * wait, 50))
    try {
      return await createTempFile(spot, temporary, mode);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const held = await lstatIfExists(spot.childPath(temporary));
      if (held !== undefined && isStale(held)) await unlink(spot.childPath(temporary)).catch(() => undefined);
      else await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
};

type PendingWrite = {
  readonly temporary: string;
  readonly handle: SyncFileHandle;
  readonly before: BigIntStats | undefined;
  readonly isUnchanged: (now: BigIntStats | undefined) => boolean;
};

/** Fills a temporary file and renames it. */
const commitWrite = async (
  spot: FolderAnchor,
  parcel: FileWrite,
  { temporary, handle, before, isUnchanged: isStill }: PendingWrite,
): Promise<BigIntStats> => {
  const { name, bytes } = parcel;
  const kept = targetMode(parcel, before);
  const path = spot.childPath(temporary);
  // A slow disk takes longer than a dead program is waited for.
  const beat = setInterval(() => void handle.touch().catch(() => undefined), staleTempAge / 3);
  try {
    await spot.confirm(temporary, await handle.stat());
    await handle.write(bytes);
    if (before?.isFile() === true) await preserveOwner(handle, before);
    if (kept !== undefined) await handle.chmod(kept);
    await handle.touch();
    await handle.datasync();
    clearInterval(beat);
    await spot.verify();
    if (!(await isOwnFile(path, handle)) || !isStill(await lstatIfExists(spot.childPath(name))))
      throw new DiskError("ESTALE", `${spot.path}: ${name} has changed`);
    await rename(path, spot.childPath(name));
    await syncFolder(spot.handle);
    return await handle.stat();
  } catch (error) {
    // Another's by now, where our own was taken for a dead program's.
    if (await isOwnFile(path, handle)) await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(beat);
    await handle.close();
  }
};

const isOwnFile = async (path: string, handle: SyncFileHandle): Promise<boolean> => {
  const [there, own] = await Promise.all([lstatIfExists(path), handle.stat()]).catch(() => []);
  return there !== undefined && there.ino === own?.ino && there.dev === own.dev;
};

/** Only root may give files away; everyone else's edit makes the file theirs. */
const preserveOwner = async (handle: SyncFileHandle, { uid, gid }: BigIntStats): Promise<void> => {
  const mine = await handle.stat();
  if (mine.uid !== uid || mine.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => undefined);
};

/** Makes a folder's names survive a power loss. Windows, and some network drives, cannot do that. */
export const syncFolder = async (folder: SyncFileHandle): Promise<void> => {
  try {
    await folder.sync();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "EINVAL" && code !== "EPERM" && code !== "ENOTSUP" && code !== "EBADF") throw error;
  }
};
