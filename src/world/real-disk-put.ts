import { constants, type BigIntStats } from "node:fs";
import { DiskError } from "./disk.ts";
import { isTemporaryName, leftoverAge, lockingName, temporaryName } from "./disk-names.ts";
import type { Spot } from "./real-disk-spot.ts";
import { lstat, nextIn, open, openDirectory, rename, seen, unlink, type Handle } from "./system.ts";

/** What to put where. Without a mode, that of the file before is kept, or a new file gets the usual one. */
export type Parcel = { readonly name: string; readonly bytes: Uint8Array; readonly mode: number | undefined };

const { O_WRONLY, O_CREAT, O_EXCL } = constants;
const { O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * Puts a file in a folder as a whole and flushed, or not at all. Whatever stood under the name, a link too,
 * is replaced; other hard links to it keep the old bytes.
 */
export const putFile = async (spot: Spot, parcel: Parcel): Promise<BigIntStats> => {
  const temporary = temporaryName();
  const before = await standing(spot, parcel.name);
  const handle = await create(spot, temporary, newMode(parcel, before));
  return deliver(spot, parcel, { temporary, handle, before, isStill: () => true });
};

/**
 * The same, if `isStill` holds for what stands there just before the rename. The temporary file has one name for every
 * writer of this file, so it is a lock until it is renamed; one that a killed program left is taken away after a while.
 */
export const replaceFile = async (
  spot: Spot,
  parcel: Parcel,
  isStill: (now: BigIntStats | undefined) => boolean,
): Promise<BigIntStats> => {
  const temporary = lockingName(parcel.name);
  const before = await standing(spot, parcel.name);
  const handle = await lock(spot, temporary, newMode(parcel, before));
  const written = await deliver(spot, parcel, { temporary, handle, before, isStill });
  await removeLeftovers(spot).catch(() => undefined);
  return written;
};

/** Removes the temporary files that killed programs left among the first names of a folder. */
const removeLeftovers = async (spot: Spot): Promise<void> => {
  const folder = await openDirectory(spot.at("."));
  try {
    for (let count = 0; count < mostNames; count++) {
      const item = await nextIn(folder);
      if (item === null) return;
      if (!item.isFile() || !isTemporaryName(item.name)) continue;
      const found = await seen(spot.at(item.name));
      if (found !== undefined && isLeft(found)) await unlink(spot.at(item.name));
    }
  } finally {
    folder.closeSync();
  }
};

const mostNames = 2000;

const isLeft = ({ mtimeMs }: BigIntStats): boolean => Date.now() - Number(mtimeMs) > leftoverAge;

const standing = async (spot: Spot, name: string): Promise<BigIntStats | undefined> => {
  const before = await lstat(spot.at(name)).catch(() => undefined);
  if (before?.isDirectory() === true) throw new DiskError("EISDIR", `${spot.path}: ${name} is a folder`);
  return before;
};

/** The mode that was asked for, or that the file before has; undefined for a new file. */
const keptMode = ({ mode }: Parcel, before: BigIntStats | undefined): number | undefined =>
  mode ?? (before?.isFile() === true ? Number(before.mode) & 0o777 : undefined);

/** Until it has its own, a file is its owner's alone; a new one gets the usual mode. */
const newMode = (parcel: Parcel, before: BigIntStats | undefined): number =>
  keptMode(parcel, before) === undefined ? 0o666 : 0o600;

const create = (spot: Spot, temporary: string, mode: number): Promise<Handle> =>
  open(spot.at(temporary), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);

const lock = async (spot: Spot, temporary: string, mode: number): Promise<Handle> => {
  for (let wait = 1; ; wait = Math.min(2 * wait, 50))
    try {
      return await create(spot, temporary, mode);
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      const held = await seen(spot.at(temporary));
      if (held !== undefined && isLeft(held)) await unlink(spot.at(temporary)).catch(() => undefined);
      else await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + Math.random())));
    }
};

type Delivery = {
  readonly temporary: string;
  readonly handle: Handle;
  readonly before: BigIntStats | undefined;
  readonly isStill: (now: BigIntStats | undefined) => boolean;
};

/** Fills a temporary file and renames it. */
const deliver = async (
  spot: Spot,
  parcel: Parcel,
  { temporary, handle, before, isStill }: Delivery,
): Promise<BigIntStats> => {
  const { name, bytes } = parcel;
  const kept = keptMode(parcel, before);
  const path = spot.at(temporary);
  // A slow disk takes longer than a dead program is waited for.
  const beat = setInterval(() => void handle.touch().catch(() => undefined), leftoverAge / 3);
  try {
    await spot.confirm(temporary, await handle.stat());
    await handle.write(bytes);
    if (before?.isFile() === true) await keepOwner(handle, before);
    if (kept !== undefined) await handle.chmod(kept);
    await handle.touch();
    await handle.datasync();
    clearInterval(beat);
    await spot.verify();
    if (!(await isOwn(path, handle)) || !isStill(await seen(spot.at(name))))
      throw new DiskError("ESTALE", `${spot.path}: ${name} has changed`);
    await rename(path, spot.at(name));
    await flushFolder(spot.handle);
    return await handle.stat();
  } catch (error) {
    // Another's by now, where our own was taken for a dead program's.
    if (await isOwn(path, handle)) await unlink(path).catch(() => undefined);
    throw error;
  } finally {
    clearInterval(beat);
    await handle.close();
  }
};

const isOwn = async (path: string, handle: Handle): Promise<boolean> => {
  const [there, own] = await Promise.all([seen(path), handle.stat()]).catch(() => []);
  return there !== undefined && there.ino === own?.ino && there.dev === own.dev;
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
