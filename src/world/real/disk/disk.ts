import { constants, type BigIntStats } from "node:fs";
import { constants as systemConstants } from "node:os";
import {
  DiskError,
  type AppendHandle,
  type Disk,
  type DiskEntry,
  type EntryKind,
  type FileHandle,
  type FileHead,
  type Folder,
  type ReadHeadOptions,
} from "../../disk.ts";
import { isSingleComponent } from "../../file-names.ts";
import { syncFolder, writeFileAtomically, replaceFileIfUnchanged } from "./atomic-write.ts";
import { listNamesAt } from "./list-names.ts";
import {
  anchorByHandle,
  anchorByPath,
  isSameFile,
  joinName,
  canWalkHandle,
  type FolderAnchor,
  type CreateAnchor,
} from "./folder-anchor.ts";
import { createSyncFileCalls, type SyncFileCalls, type SyncFileHandle } from "../sync-file-calls.ts";

/** Creates the disk of this machine: by handles where the system lets a handle be walked, by checked paths elsewhere. */
export const createRealDisk = (calls: SyncFileCalls = createSyncFileCalls()): Disk =>
  createDisk(calls, async (handle) => ((await canWalkHandle(calls, handle)) ? anchorByHandle : anchorByPath)(calls));

/**
 * Creates a disk for systems whose handles cannot be walked (macOS, Windows). Every step is checked before and after; a
 * swap is detected and the opened object is closed, but an empty file may have been created in the wrong place.
 *
 * @internal Exported for its tests.
 */
export const createPathDisk = (calls: SyncFileCalls = createSyncFileCalls()): Disk =>
  createDisk(calls, async () => anchorByPath(calls));

const createDisk = (calls: SyncFileCalls, choose: (handle: SyncFileHandle) => Promise<CreateAnchor>): Disk => ({
  canonicalPath: (path) => findCanonicalPath(calls, path),
  openFolder: (path) => openRootFolder(calls, path, choose),
  listNames: (path) => withDiskErrors(`list ${path}`, () => listNamesAt(calls, path)),
  readHead: (path, options) => withDiskErrors(`read ${path}`, () => readHeadAt(calls, path, options)),
  listIdentities: async (paths) =>
    (await calls.lstatAll(paths)).map((found) => (found?.isFile() === true ? identityOf(found) : undefined)),
});

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT } = constants;
// Undefined on Windows: there, paths are checked instead.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants as Partial<typeof constants>;
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
const fileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const appendFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

const findCanonicalPath = async (calls: SyncFileCalls, path: string): Promise<string | undefined> => {
  try {
    return (await lstatIfPossible(calls, path)) && (await calls.realpath(path));
  } catch (error) {
    const { code } = toDiskError(error, `find ${path}`);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw toDiskError(error, `find ${path}`);
  }
};

/** Finds nothing under a name that no file can have. A path that is only too long in all can still lead to a file. */
const lstatIfPossible = async (calls: SyncFileCalls, path: string): Promise<BigIntStats | undefined> => {
  try {
    return await calls.lstatIfExists(path);
  } catch (error) {
    const isTooLong = (error as NodeJS.ErrnoException).code === "ENAMETOOLONG";
    if (isTooLong && path.split("/").some((name) => Buffer.byteLength(name) > 255)) return undefined;
    throw error;
  }
};

const readHeadAt = async (
  calls: SyncFileCalls,
  path: string,
  { maxBytes, known }: ReadHeadOptions,
): Promise<FileHead | undefined> => {
  const found = await calls.lstatIfExists(path);
  if (found?.isFile() !== true) return undefined;
  if (identityOf(found) === known) return { identity: known, bytes: "unchanged" };
  const handle = await calls.open(path, fileFlags);
  try {
    const opened = await handle.stat();
    if (!opened.isFile() || (await calls.realpath(path)) !== path) return undefined;
    const file = createFileHandle(path, handle);
    return { identity: identityOf(opened), bytes: await file.read(0, Math.min(maxBytes, Number(opened.size))) };
  } finally {
    await handle.close();
  }
};

const openRootFolder = async (
  calls: SyncFileCalls,
  path: string,
  choose: (handle: SyncFileHandle) => Promise<CreateAnchor>,
): Promise<Folder> => {
  const operation = `open ${path}`;
  const handle = await withDiskErrors(operation, () => calls.open(path, folderFlags)).catch(async (error: unknown) => {
    const isLink = await calls.lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    throw isLink ? new DiskError("ELOOP", `Could not ${operation}: it is a link`) : error;
  });
  try {
    return await withDiskErrors(operation, async () => {
      const opened = await handle.stat();
      if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `Could not ${operation}: not a folder`);
      if ((await calls.realpath(path)) !== path || !isSameFile(opened, await calls.lstat(path)))
        throw new DiskError("ELOOP", `Could not ${operation}: there is a link in the path`);
      return createFolder((await choose(handle))(path, handle, opened));
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const createFolder = (anchor: FolderAnchor): Folder => {
  const pending = new Set<Promise<unknown>>();
  // A closed descriptor number may be reused for another folder at once, so a handle is closed only when no operation
  // is pending.
  const busy = <Result>(operation: string, work: () => Promise<Result>): Promise<Result> => {
    const running = withDiskErrors(operation, async () => {
      if (anchor.handle.fd < 0) throw new DiskError("EBADF", `Could not ${operation}: the folder was closed`);
      await anchor.verify();
      return work();
    });
    const settled: Promise<unknown> = running.catch(() => undefined).finally(() => pending.delete(settled));
    pending.add(settled);
    return running;
  };
  const on = <Result>(verb: string, name: string, work: () => Promise<Result>): Promise<Result> =>
    busy(`${verb} ${joinName(anchor.path, name)}`, () => {
      if (!isSingleComponent(name)) throw new DiskError("EINVAL", `${JSON.stringify(name)} is not a valid name`);
      return work();
    });

  return {
    path: anchor.path,
    statSelf: () => busy(`look at ${anchor.path}`, async () => toDiskEntry(await anchor.handle.stat())),
    stat: (name) => on("look at", name, () => statChild(anchor, name)),
    openFolder: (name) => on("open", name, () => openChildFolder(anchor, name)),
    openFile: (name) => on("open", name, () => openChildFile(anchor, name)),
    readLink: (name) => on("read the link", name, () => anchor.calls.readlink(anchor.childPath(name))),
    list: () => listEntries(anchor, busy),
    makeFolder: (name, mode) => on("make", name, () => makeFolder(anchor, name, mode)),
    writeFile: (name, bytes, mode) =>
      on("write", name, async () => identityOf(await writeFileAtomically(anchor, { name, bytes, mode }))),
    replaceFile: (name, bytes, expected) =>
      on("write", name, async () => {
        const check = (now: BigIntStats | undefined): boolean =>
          (now === undefined ? "absent" : identityOf(now)) === expected;
        return identityOf(await replaceFileIfUnchanged(anchor, { name, bytes, mode: undefined }, check));
      }),
    remove: (name) => on("remove", name, () => remove(anchor, name)),
    rename: (name, to) => on("rename", name, () => on("rename to", to, () => renameEntry(anchor, name, to))),
    openAppend: (name) => on("open", name, () => openChildForAppend(anchor, name)),
    flush: () => busy(`flush ${anchor.path}`, () => syncFolder(anchor.handle)),
    close: async () => {
      await Promise.all(pending);
      await anchor.handle.close();
    },
  };
};

const statChild = async (anchor: FolderAnchor, name: string): Promise<DiskEntry | undefined> => {
  const found = await lstatIfPossible(anchor.calls, anchor.childPath(name));
  if (found === undefined) return undefined;
  await anchor.verify();
  return toDiskEntry(found);
};

const openChildFolder = async (anchor: FolderAnchor, name: string): Promise<Folder> => {
  const { handle, opened } = await openChild(anchor, name, folderFlags);
  try {
    if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `${joinName(anchor.path, name)} is not a folder`);
    return createFolder(anchor.child(name, handle, opened));
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const openChildFile = async (anchor: FolderAnchor, name: string): Promise<FileHandle> => {
  const { handle, opened } = await openChild(anchor, name, fileFlags);
  return createFileHandle(joinName(anchor.path, name), await requireRegularFile(anchor, name, handle, opened));
};

const openChildForAppend = async (anchor: FolderAnchor, name: string): Promise<AppendHandle> => {
  const { handle, opened } = await openChild(anchor, name, appendFlags);
  const path = joinName(anchor.path, name);
  const file = await requireRegularFile(anchor, name, handle, opened);
  return {
    ...createFileHandle(path, file),
    append: (bytes) => withDiskErrors(`write ${path}`, () => file.write(bytes)),
    flush: () => withDiskErrors(`flush ${path}`, () => file.datasync()),
    truncate: (size) => withDiskErrors(`cut ${path}`, () => file.truncate(size)),
  };
};

const requireRegularFile = async (
  anchor: FolderAnchor,
  name: string,
  handle: SyncFileHandle,
  opened: BigIntStats,
): Promise<SyncFileHandle> => {
  if (opened.isFile()) return handle;
  const path = joinName(anchor.path, name);
  await handle.close();
  throw opened.isDirectory()
    ? new DiskError("EISDIR", `${path} is a folder`)
    : new DiskError("ENXIO", `${path} is a pipe, a socket or a device`);
};

const openChild = async (
  anchor: FolderAnchor,
  name: string,
  flags: number,
): Promise<{ readonly handle: SyncFileHandle; readonly opened: BigIntStats }> => {
  const handle = await anchor.calls.open(anchor.childPath(name), flags, 0o600).catch(async (error: unknown) => {
    // Systems differ in the error code for a link that is not followed.
    if ((await statChild(anchor, name))?.kind === "link")
      throw new DiskError("ELOOP", `${joinName(anchor.path, name)} is a link`);
    throw error;
  });
  try {
    const opened = await handle.stat();
    await anchor.confirm(name, opened);
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
      // A small file must not allocate a gigabyte.
      const limit = length > maxUncheckedRead ? Math.min(length, await bytesLeft(handle, at)) : length;
      const buffer = new Uint8Array(limit);
      let filled = 0;
      while (filled < limit) {
        const count = await handle.read(buffer, filled, limit - filled, at + filled);
        if (count === 0) break;
        filled += count;
      }
      return filled === limit ? buffer : buffer.subarray(0, filled);
    }),
  close: () => handle.close(),
});

const bytesLeft = async (handle: SyncFileHandle, at: number): Promise<number> => {
  const { size } = await handle.stat();
  return Math.max(Number(size) - at, maxUncheckedRead);
};

const listEntries = async function* (
  anchor: FolderAnchor,
  busy: <Result>(operation: string, work: () => Promise<Result>) => Promise<Result>,
): AsyncGenerator<{ readonly name: string; readonly kind: EntryKind }> {
  const operation = `list ${anchor.path}`;
  const folder = await busy(operation, () => anchor.calls.openDirectory(anchor.childPath(".")));
  try {
    await withDiskErrors(operation, anchor.verify);
    for (
      let item = await anchor.calls.readNextEntry(folder);
      item !== null;
      item = await anchor.calls.readNextEntry(folder)
    )
      yield { name: item.name, kind: kindOf(item) };
  } catch (error) {
    throw toDiskError(error, operation);
  } finally {
    folder.closeSync();
  }
};

const makeFolder = async (anchor: FolderAnchor, name: string, mode: number | undefined): Promise<void> => {
  try {
    await anchor.calls.mkdir(anchor.childPath(name), mode);
  } catch (error) {
    if (hasErrorCode(error, "EEXIST") && (await statChild(anchor, name))?.kind === "folder") return;
    throw error;
  }
};

const remove = async (anchor: FolderAnchor, name: string): Promise<void> => {
  const kind = (await statChild(anchor, name))?.kind;
  if (kind === undefined) return;
  await (kind === "folder" ? anchor.calls.rmdir(anchor.childPath(name)) : anchor.calls.unlink(anchor.childPath(name)));
};

/** The system would replace a file under the new name; one created between the check and the rename is replaced. */
const renameEntry = async (anchor: FolderAnchor, name: string, to: string): Promise<void> => {
  if ((await statChild(anchor, to)) !== undefined)
    throw new DiskError("EEXIST", `${joinName(anchor.path, to)} already exists`);
  await anchor.calls.rename(anchor.childPath(name), anchor.childPath(to));
};

const toDiskEntry = (stats: BigIntStats): DiskEntry => ({
  kind: kindOf(stats),
  size: Number(stats.size),
  modified: Number(stats.mtimeMs),
  mode: Number(stats.mode) & 0o7777,
  isOwn: process.getuid === undefined || Number(stats.uid) === process.getuid(),
  identity: identityOf(stats),
});

const kindOf = (item: Pick<BigIntStats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind =>
  item.isFile() ? "file" : item.isDirectory() ? "folder" : item.isSymbolicLink() ? "link" : "other";

/**
 * Both times are needed: file systems count changes in ticks and reuse inodes, but every file we write has a distinct
 * mtime.
 */
const identityOf = ({ dev, ino, size, ctimeNs, mtimeNs }: BigIntStats): string =>
  `${dev}.${ino}.${size}.${ctimeNs}.${mtimeNs}`;

const withDiskErrors = async <Result>(operation: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw toDiskError(error, operation);
  }
};

const toDiskError = (error: unknown, operation: string): DiskError => {
  if (error instanceof DiskError) return error;
  const code = systemCode(error);
  return new DiskError(code, `Could not ${operation}: ${code}`, error);
};

/** The system's error code. Node has no name for some, such as EDQUOT, and reports them as unknown. */
const systemCode = (error: unknown): string => {
  const { code, errno } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (code !== undefined && /^E[A-Z0-9]+$/.test(code)) return code;
  const named = Object.entries(systemConstants.errno).find(([, number]) => errno !== undefined && number === -errno);
  return named?.[0] ?? "EIO";
};

const hasErrorCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
