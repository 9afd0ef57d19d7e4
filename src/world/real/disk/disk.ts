import { constants, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { constants as systemConstants } from "node:os";
import {
  DiskError,
  type AppendHandle,
  type Disk,
  type DiskEntry,
  type EntryKind,
  type FileHandle,
  type Folder,
} from "../../disk.ts";
import { isSingleComponent } from "../../file-names.ts";
import { syncFolder, writeFileAtomically, replaceFileIfUnchanged } from "./atomic-write.ts";
import { listNamesAt } from "./list-names.ts";
import {
  anchorByHandle,
  anchorByPath,
  isSameFile,
  canWalkHandle,
  type FolderAnchor,
  type CreateAnchor,
} from "./folder-anchor.ts";
import {
  lstat,
  mkdir,
  readNextEntry,
  open,
  openDirectory,
  readlink,
  realpath,
  rename,
  rmdir,
  lstatIfExists,
  unlink,
  type SyncFileHandle,
} from "../sync-file-calls.ts";

/** The disk of this machine: by handles where the system lets a handle be walked, by checked paths elsewhere. */
export const realDisk: Disk = {
  canonicalPath: (path) => findCanonicalPath(path),
  openFolder: (path) =>
    openRootFolder(path, async (handle) => ((await canWalkHandle(handle)) ? anchorByHandle : anchorByPath)),
  listNames: (path) => withDiskErrors(`list ${path}`, () => listNamesAt(path)),
};

/**
 * The disk of a system whose handles cannot be walked (macOS, Windows). Every step is checked before and
 * after; a swap is noticed and what was opened is let go, but an empty file may be made where it should not.
 */
export const pathDisk: Disk = {
  canonicalPath: (path) => findCanonicalPath(path),
  openFolder: (path) => openRootFolder(path, async () => anchorByPath),
  listNames: (path) => withDiskErrors(`list ${path}`, () => listNamesAt(path)),
};

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT } = constants;
// Windows knows none of these: there, paths are checked instead.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants as Partial<typeof constants>;
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
const fileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const appendFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

const findCanonicalPath = async (path: string): Promise<string | undefined> => {
  try {
    return (await lstatIfExists(path)) && (await realpath(path));
  } catch (error) {
    const { code } = toDiskError(error, `find ${path}`);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw toDiskError(error, `find ${path}`);
  }
};

const openRootFolder = async (
  path: string,
  choose: (handle: SyncFileHandle) => Promise<CreateAnchor>,
): Promise<Folder> => {
  const doing = `open ${path}`;
  const handle = await withDiskErrors(doing, () => open(path, folderFlags)).catch(async (error: unknown) => {
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    throw isLink ? new DiskError("ELOOP", `Could not ${doing}: it is a link`) : error;
  });
  try {
    return await withDiskErrors(doing, async () => {
      const opened = await handle.stat();
      if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `Could not ${doing}: not a folder`);
      if ((await realpath(path)) !== path || !isSameFile(opened, await lstat(path)))
        throw new DiskError("ELOOP", `Could not ${doing}: there is a link in the path`);
      return createFolder((await choose(handle))(path, handle, opened));
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const createFolder = (spot: FolderAnchor): Folder => {
  const pending = new Set<Promise<unknown>>();
  // A number let go may be given to another folder at once, so nothing may be under way when a handle is closed.
  const busy = <Result>(doing: string, work: () => Promise<Result>): Promise<Result> => {
    const running = withDiskErrors(doing, async () => {
      if (spot.handle.fd < 0) throw new DiskError("EBADF", `Could not ${doing}: the folder was closed`);
      await spot.verify();
      return work();
    });
    const settled: Promise<unknown> = running.catch(() => undefined).finally(() => pending.delete(settled));
    pending.add(settled);
    return running;
  };
  const on = <Result>(verb: string, name: string, work: () => Promise<Result>): Promise<Result> =>
    busy(`${verb} ${join(spot.path, name)}`, () => {
      if (!isSingleComponent(name)) throw new DiskError("EINVAL", `${JSON.stringify(name)} is not a name`);
      return work();
    });

  return {
    path: spot.path,
    statSelf: () => busy(`look at ${spot.path}`, async () => toDiskEntry(await spot.handle.stat())),
    stat: (name) => on("look at", name, () => statChild(spot, name)),
    openFolder: (name) => on("open", name, () => openChildFolder(spot, name)),
    openFile: (name) => on("open", name, () => openChildFile(spot, name)),
    readLink: (name) => on("read the link", name, () => readlink(spot.childPath(name))),
    list: () => listEntries(spot, busy),
    makeFolder: (name, mode) => on("make", name, () => makeFolder(spot, name, mode)),
    writeFile: (name, bytes, mode) =>
      on("write", name, async () => identityOf(await writeFileAtomically(spot, { name, bytes, mode }))),
    replaceFile: (name, bytes, was) =>
      on("write", name, async () => {
        const check = (now: BigIntStats | undefined): boolean =>
          (now === undefined ? "absent" : identityOf(now)) === was;
        return identityOf(await replaceFileIfUnchanged(spot, { name, bytes, mode: undefined }, check));
      }),
    remove: (name) => on("remove", name, () => remove(spot, name)),
    rename: (name, to) => on("rename", name, () => on("rename to", to, () => renameEntry(spot, name, to))),
    openAppend: (name) => on("open", name, () => openChildForAppend(spot, name)),
    flush: () => busy(`flush ${spot.path}`, () => syncFolder(spot.handle)),
    close: async () => {
      await Promise.all(pending);
      await spot.handle.close();
    },
  };
};

const statChild = async (spot: FolderAnchor, name: string): Promise<DiskEntry | undefined> => {
  const found = await lstatIfExists(spot.childPath(name));
  if (found === undefined) return undefined;
  await spot.verify();
  return toDiskEntry(found);
};

const openChildFolder = async (spot: FolderAnchor, name: string): Promise<Folder> => {
  const { handle, opened } = await openChild(spot, name, folderFlags);
  try {
    if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `${join(spot.path, name)} is not a folder`);
    return createFolder(spot.child(name, handle, opened));
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const openChildFile = async (spot: FolderAnchor, name: string): Promise<FileHandle> => {
  const { handle, opened } = await openChild(spot, name, fileFlags);
  return createFileHandle(join(spot.path, name), await requireRegularFile(spot, name, handle, opened));
};

const openChildForAppend = async (spot: FolderAnchor, name: string): Promise<AppendHandle> => {
  const { handle, opened } = await openChild(spot, name, appendFlags);
  const path = join(spot.path, name);
  const file = await requireRegularFile(spot, name, handle, opened);
  return {
    ...createFileHandle(path, file),
    append: (bytes) => withDiskErrors(`write ${path}`, () => file.write(bytes)),
    flush: () => withDiskErrors(`flush ${path}`, () => file.datasync()),
    truncate: (size) => withDiskErrors(`cut ${path}`, () => file.truncate(size)),
  };
};

const requireRegularFile = async (
  spot: FolderAnchor,
  name: string,
  handle: SyncFileHandle,
  opened: BigIntStats,
): Promise<SyncFileHandle> => {
  if (opened.isFile()) return handle;
  const path = join(spot.path, name);
  await handle.close();
  throw opened.isDirectory()
    ? new DiskError("EISDIR", `${path} is a folder`)
    : new DiskError("ENXIO", `${path} is a pipe, a socket or a device`);
};

const openChild = async (
  spot: FolderAnchor,
  name: string,
  flags: number,
): Promise<{ readonly handle: SyncFileHandle; readonly opened: BigIntStats }> => {
  const handle = await open(spot.childPath(name), flags, 0o600).catch(async (error: unknown) => {
    // Systems differ in what they call a link that is not followed.
    if ((await statChild(spot, name))?.kind === "link")
      throw new DiskError("ELOOP", `${join(spot.path, name)} is a link`);
    throw error;
  });
  try {
    const opened = await handle.stat();
    await spot.confirm(name, opened);
    return { handle, opened };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const maxUncheckedRead = 2 ** 20;

const createFileHandle = (path: string, handle: SyncFileHandle): FileHandle => ({
  stat: () => withDiskErrors(`look at ${path}`, async () => toDiskEntry(await handle.stat())),
  read: (at, length) =>
    withDiskErrors(`read ${path}`, async () => {
      // Nobody gets a gigabyte of memory for a small file.
      const most = length > maxUncheckedRead ? Math.min(length, await bytesLeft(handle, at)) : length;
      const buffer = new Uint8Array(most);
      let filled = 0;
      while (filled < most) {
        const came = await handle.read(buffer, filled, most - filled, at + filled);
        if (came === 0) break;
        filled += came;
      }
      return filled === most ? buffer : buffer.subarray(0, filled);
    }),
  close: () => handle.close(),
});

const bytesLeft = async (handle: SyncFileHandle, at: number): Promise<number> => {
  const { size } = await handle.stat();
  return Math.max(Number(size) - at, maxUncheckedRead);
};

const listEntries = async function* (
  spot: FolderAnchor,
  busy: <Result>(doing: string, work: () => Promise<Result>) => Promise<Result>,
): AsyncGenerator<{ readonly name: string; readonly kind: EntryKind }> {
  const doing = `list ${spot.path}`;
  const folder = await busy(doing, () => openDirectory(spot.childPath(".")));
  try {
    await withDiskErrors(doing, spot.verify);
    for (let item = await readNextEntry(folder); item !== null; item = await readNextEntry(folder))
      yield { name: item.name, kind: kindOf(item) };
  } catch (error) {
    throw toDiskError(error, doing);
  } finally {
    folder.closeSync();
  }
};

const makeFolder = async (spot: FolderAnchor, name: string, mode: number | undefined): Promise<void> => {
  try {
    await mkdir(spot.childPath(name), mode);
  } catch (error) {
    if (hasErrorCode(error, "EEXIST") && (await statChild(spot, name))?.kind === "folder") return;
    throw error;
  }
};

const remove = async (spot: FolderAnchor, name: string): Promise<void> => {
  const kind = (await statChild(spot, name))?.kind;
  if (kind === undefined) return;
  await (kind === "folder" ? rmdir(spot.childPath(name)) : unlink(spot.childPath(name)));
};

/** The system would replace a file under the new name; one that appears between the look and the rename is replaced. */
const renameEntry = async (spot: FolderAnchor, name: string, to: string): Promise<void> => {
  if ((await statChild(spot, to)) !== undefined)
    throw new DiskError("EEXIST", `${join(spot.path, to)} is there already`);
  await rename(spot.childPath(name), spot.childPath(to));
};

const toDiskEntry = (stats: BigIntStats): DiskEntry => ({
  kind: kindOf(stats),
  size: Number(stats.size),
  modified: Number(stats.mtimeMs),
  mode: Number(stats.mode) & 0o7777,
  identity: identityOf(stats),
});

const kindOf = (item: Pick<BigIntStats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind =>
  item.isFile() ? "file" : item.isDirectory() ? "folder" : item.isSymbolicLink() ? "link" : "other";

/** Two times: systems count changes in ticks, and inodes are given again, but every file we write has a modification time of its own. */
const identityOf = ({ dev, ino, size, ctimeNs, mtimeNs }: BigIntStats): string =>
  `${dev}.${ino}.${size}.${ctimeNs}.${mtimeNs}`;

const withDiskErrors = async <Result>(doing: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw toDiskError(error, doing);
  }
};

const toDiskError = (error: unknown, doing: string): DiskError => {
  if (error instanceof DiskError) return error;
  const code = systemCode(error);
  return new DiskError(code, `Could not ${doing}: ${code}`, error);
};

/** The system's code. Node knows no name for some, such as EDQUOT, and calls them unknown. */
const systemCode = (error: unknown): string => {
  const { code, errno } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) return code;
  const named = Object.entries(systemConstants.errno).find(([, number]) => errno !== undefined && number === -errno);
  return named?.[0] ?? "EIO";
};

const hasErrorCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
