import { constants, type BigIntStats } from "node:fs";
import { DiskError } from "../../disk.ts";
import { isTempName, staleTempAge, tempLockName, createTempName } from "../../file-names.ts";
import type { FolderAnchor } from "./folder-anchor.ts";
import type { SyncFileCalls, SyncFileHandle } from "../sync-file-calls.ts";

/** A file to write. Without a mode, the mode of the existing file is kept, and a new file gets the default one. */
export type FileWrite = { readonly name: string; readonly bytes: Uint8Array; readonly mode: number | undefined };

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Writes a file atomically and flushed, or not at all. An existing entry, links included, is replaced; other hard links
 * to it keep the old bytes.
 */
export const writeFileAtomically = async (anchor: FolderAnchor, write: FileWrite): Promise<BigIntStats> => {
  const temporary = createTempName();
  const before = await statExisting(anchor, write.name);
  const handle = await createTempFile(anchor, temporary, initialMode(write, before));
  return commitWrite(anchor, write, { temporary, handle, before, isUnchanged: () => true });
};

/**
 * Writes a file atomically if `isUnchanged` holds for the existing entry just before the rename. The temporary file has
 * one name for all writers of this file, so it is a lock until it is renamed; one left by a killed process is removed
 * once it is stale.
 */
export const replaceFileIfUnchanged = async (
  anchor: FolderAnchor,
  write: FileWrite,
  isUnchanged: (now: BigIntStats | undefined) => boolean,
): Promise<BigIntStats> => {
  const temporary = tempLockName(write.name);
  const before = await statExisting(anchor, write.name);
  const handle = await createLockFile(anchor, temporary, initialMode(write, before));
  const written = await commitWrite(anchor, write, { temporary, handle, before, isUnchanged });
  await removeStaleTempFiles(anchor).catch(() => undefined);
  return written;
};

/** Removes temporary files left by killed processes among the first names of a folder. */
const removeStaleTempFiles = async (anchor: FolderAnchor): Promise<void> => {
  const folder = await anchor.calls.openDirectory(anchor.childPath("."));
  try {
    for (let count = 0; count < maxNamesScanned; count++) {
      const item = await anchor.calls.readNextEntry(folder);
      if (item === null) return;
      if (!item.isFile() || !isTempName(item.name)) continue;
      const found = await anchor.calls.lstatIfExists(anchor.childPath(item.name));
      if (found !== undefined && isStale(found)) await anchor.calls.unlink(anchor.childPath(item.name));
    }
  } finally {
    folder.closeSync();
  }
};

const maxNamesScanned = 2000;

const isStale = ({ mtimeMs }: BigIntStats): boolean => Date.now() - Number(mtimeMs) > staleTempAge;

const statExisting = async (anchor: FolderAnchor, name: string): Promise<BigIntStats | undefined> => {
  const before = await anchor.calls.lstat(anchor.childPath(name)).catch(() => undefined);
  if (before?.isDirectory() === true) throw new DiskError("EISDIR", `${anchor.path}: ${name} is a folder`);
  return before;
};

/** The requested mode, or that of the existing file; undefined for a new file. */
const targetMode = ({ mode }: FileWrite, before: BigIntStats | undefined): number | undefined =>
  mode ?? (before?.isFile() === true ? Number(before.mode) & 0o777 : undefined);

/** Until its final mode is set, a file is readable by its owner alone; a new file gets the default mode. */
const initialMode = (write: FileWrite, before: BigIntStats | undefined): number =>
  targetMode(write, before) === undefined ? 0o666 : 0o600;

const createTempFile = (anchor: FolderAnchor, temporary: string, mode: number): Promise<SyncFileHandle> =>
  anchor.calls.open(anchor.childPath(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

const createLockFile = async (anchor: FolderAnchor, temporary: string, mode: number): Promise<SyncFileHandle> => {
  for (let wait = 1; ; wait = Math.min(2 * wait, 50))
    try {
      return await createTempFile(anchor, temporary, mode);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const held = await anchor.calls.lstatIfExists(anchor.childPath(temporary));
      if (held !== undefined && isStale(held))
        await anchor.calls.unlink(anchor.childPath(temporary)).catch(() => undefined);
      else await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
};

type PendingWrite = {
  readonly temporary: string;
  readonly handle: SyncFileHandle;
  readonly before: BigIntStats | undefined;
  readonly isUnchanged: (now: BigIntStats | undefined) => boolean;
};

/** Fills the temporary file, flushes it and renames it. */
const commitWrite = async (
  anchor: FolderAnchor,
  write: FileWrite,
  { temporary, handle, before, isUnchanged }: PendingWrite,
): Promise<BigIntStats> => {
  const { name, bytes } = write;
  const mode = targetMode(write, before);
  const path = anchor.childPath(temporary);
  // A heartbeat: writing to a slow disk can take longer than the age at which a lock counts as stale.
  const heartbeat = setInterval(() => void handle.touch().catch(() => undefined), staleTempAge / 3);
  try {
    await anchor.confirm(temporary, await handle.stat());
    await handle.write(bytes);
    if (before?.isFile() === true) await preserveOwner(handle, before);
    if (mode !== undefined) await handle.chmod(mode);
    await handle.touch();
    await handle.datasync();
    clearInterval(heartbeat);
    await anchor.verify();
    if (
      !(await isOwnFile(anchor.calls, path, handle)) ||
      !isUnchanged(await anchor.calls.lstatIfExists(anchor.childPath(name)))
    )
      throw new DiskError("ESTALE", `${anchor.path}: ${name} has changed`);
    await anchor.calls.rename(path, anchor.childPath(name));
    await syncFolder(anchor.handle);
    return await handle.stat();
  } catch (error) {
    // It belongs to another process by now if ours was taken for stale.
    if (await isOwnFile(anchor.calls, path, handle)) await anchor.calls.unlink(path).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(heartbeat);
    await handle.close();
  }
};

const isOwnFile = async (calls: SyncFileCalls, path: string, handle: SyncFileHandle): Promise<boolean> => {
  const [current, own] = await Promise.all([calls.lstatIfExists(path), handle.stat()]).catch(() => []);
  return current !== undefined && current.ino === own?.ino && current.dev === own.dev;
};

/** Only root may change a file's owner; for everyone else an edited file becomes their own. */
const preserveOwner = async (handle: SyncFileHandle, { uid, gid }: BigIntStats): Promise<void> => {
  const mine = await handle.stat();
  if (mine.uid !== uid || mine.gid !== gid) await handle.chown(Number(uid), Number(gid)).catch(() => undefined);
};

/** Makes a folder's names survive a power loss (fsync). Windows and some network drives do not support it. */
export const syncFolder = async (folder: SyncFileHandle): Promise<void> => {
  try {
    await folder.sync();
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code !== "EINVAL" && code !== "EPERM" && code !== "ENOTSUP" && code !== "EBADF") throw error;
  }
};
