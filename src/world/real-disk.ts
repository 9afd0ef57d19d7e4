import { constants, type BigIntStats } from "node:fs";
import { join } from "node:path";
import { constants as systemConstants } from "node:os";
import {
  DiskError,
  type AppendHandle,
  type Disk,
  type Entry,
  type EntryKind,
  type FileHandle,
  type Folder,
} from "./disk.ts";
import { isPlainName } from "./disk-names.ts";
import { flushFolder, putFile, replaceFile } from "./real-disk-put.ts";
import { namesAt } from "./real-disk-names.ts";
import { byHandle, byPath, isSame, isWalkable, type Spot, type Way } from "./real-disk-spot.ts";
import {
  lstat,
  mkdir,
  nextIn,
  open,
  openDirectory,
  readlink,
  realpath,
  rename,
  rmdir,
  seen,
  unlink,
  type Handle,
} from "./system.ts";

/** The disk of this machine: by handles where the system lets a handle be walked, by checked paths elsewhere. */
export const realDisk: Disk = {
  canonical: (path) => canonical(path),
  open: (path) => openFolder(path, async (handle) => ((await isWalkable(handle)) ? byHandle : byPath)),
  names: (path) => tried(`list ${path}`, () => namesAt(path)),
};

/**
 * The disk of a system whose handles cannot be walked (macOS, Windows). Every step is checked before and
 * after; a swap is noticed and what was opened is let go, but an empty file may be made where it should not.
 */
export const pathDisk: Disk = {
  canonical: (path) => canonical(path),
  open: (path) => openFolder(path, async () => byPath),
  names: (path) => tried(`list ${path}`, () => namesAt(path)),
};

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT } = constants;
// Windows knows none of these: there, paths are checked instead.
const { O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0, O_NOCTTY = 0 } = constants as Partial<typeof constants>;
const folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK;
const fileFlags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
const appendFlags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

const canonical = async (path: string): Promise<string | undefined> => {
  try {
    return (await seen(path)) && (await realpath(path));
  } catch (error) {
    const { code } = failure(error, `find ${path}`);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP") return undefined;
    throw failure(error, `find ${path}`);
  }
};

const openFolder = async (path: string, choose: (handle: Handle) => Promise<Way>): Promise<Folder> => {
  const doing = `open ${path}`;
  const handle = await tried(doing, () => open(path, folderFlags)).catch(async (error: unknown) => {
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false,
    );
    throw isLink ? new DiskError("ELOOP", `Could not ${doing}: it is a link`) : error;
  });
  try {
    return await tried(doing, async () => {
      const opened = await handle.stat();
      if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `Could not ${doing}: not a folder`);
      if ((await realpath(path)) !== path || !isSame(opened, await lstat(path)))
        throw new DiskError("ELOOP", `Could not ${doing}: there is a link in the path`);
      return folderOf((await choose(handle))(path, handle, opened));
    });
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const folderOf = (spot: Spot): Folder => {
  const pending = new Set<Promise<unknown>>();
  // A number let go may be given to another folder at once, so nothing may be under way when a handle is closed.
  const busy = <Result>(doing: string, work: () => Promise<Result>): Promise<Result> => {
    const running = tried(doing, async () => {
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
      if (!isPlainName(name)) throw new DiskError("EINVAL", `${JSON.stringify(name)} is not a name`);
      return work();
    });

  return {
    path: spot.path,
    self: () => busy(`look at ${spot.path}`, async () => entryOf(await spot.handle.stat())),
    look: (name) => on("look at", name, () => look(spot, name)),
    folder: (name) => on("open", name, () => childFolder(spot, name)),
    file: (name) => on("open", name, () => childFile(spot, name)),
    link: (name) => on("read the link", name, () => readlink(spot.at(name))),
    list: () => list(spot, busy),
    makeFolder: (name, mode) => on("make", name, () => makeFolder(spot, name, mode)),
    put: (name, bytes, mode) => on("write", name, async () => identityOf(await putFile(spot, { name, bytes, mode }))),
    replace: (name, bytes, was) =>
      on("write", name, async () => {
        const check = (now: BigIntStats | undefined): boolean =>
          (now === undefined ? "absent" : identityOf(now)) === was;
        return identityOf(await replaceFile(spot, { name, bytes, mode: undefined }, check));
      }),
    remove: (name) => on("remove", name, () => remove(spot, name)),
    rename: (name, to) => on("rename", name, () => on("rename to", to, () => renameEntry(spot, name, to))),
    append: (name) => on("open", name, () => childLog(spot, name)),
    flush: () => busy(`flush ${spot.path}`, () => flushFolder(spot.handle)),
    close: async () => {
      await Promise.all(pending);
      await spot.handle.close();
    },
  };
};

const look = async (spot: Spot, name: string): Promise<Entry | undefined> => {
  const found = await seen(spot.at(name));
  if (found === undefined) return undefined;
  await spot.verify();
  return entryOf(found);
};

const childFolder = async (spot: Spot, name: string): Promise<Folder> => {
  const { handle, opened } = await openChild(spot, name, folderFlags);
  try {
    if (!opened.isDirectory()) throw new DiskError("ENOTDIR", `${join(spot.path, name)} is not a folder`);
    return folderOf(spot.child(name, handle, opened));
  } catch (error) {
    await handle.close();
    throw error;
  }
};

const childFile = async (spot: Spot, name: string): Promise<FileHandle> => {
  const { handle, opened } = await openChild(spot, name, fileFlags);
  return fileOf(join(spot.path, name), await regular(spot, name, handle, opened));
};

const childLog = async (spot: Spot, name: string): Promise<AppendHandle> => {
  const { handle, opened } = await openChild(spot, name, appendFlags);
  const path = join(spot.path, name);
  const file = await regular(spot, name, handle, opened);
  return {
    ...fileOf(path, file),
    append: (bytes) => tried(`write ${path}`, () => file.write(bytes)),
    flush: () => tried(`flush ${path}`, () => file.datasync()),
    truncate: (size) => tried(`cut ${path}`, () => file.truncate(size)),
  };
};

const regular = async (spot: Spot, name: string, handle: Handle, opened: BigIntStats): Promise<Handle> => {
  if (opened.isFile()) return handle;
  const path = join(spot.path, name);
  await handle.close();
  throw opened.isDirectory()
    ? new DiskError("EISDIR", `${path} is a folder`)
    : new DiskError("ENXIO", `${path} is a pipe, a socket or a device`);
};

const openChild = async (
  spot: Spot,
  name: string,
  flags: number,
): Promise<{ readonly handle: Handle; readonly opened: BigIntStats }> => {
  const handle = await open(spot.at(name), flags, 0o600).catch(async (error: unknown) => {
    // Systems differ in what they call a link that is not followed.
    if ((await look(spot, name))?.kind === "link") throw new DiskError("ELOOP", `${join(spot.path, name)} is a link`);
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

const largestUncheckedRead = 2 ** 20;

const fileOf = (path: string, handle: Handle): FileHandle => ({
  look: () => tried(`look at ${path}`, async () => entryOf(await handle.stat())),
  read: (at, length) =>
    tried(`read ${path}`, async () => {
      // Nobody gets a gigabyte of memory for a small file.
      const most = length > largestUncheckedRead ? Math.min(length, await restOf(handle, at)) : length;
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

const restOf = async (handle: Handle, at: number): Promise<number> => {
  const { size } = await handle.stat();
  return Math.max(Number(size) - at, largestUncheckedRead);
};

const list = async function* (
  spot: Spot,
  busy: <Result>(doing: string, work: () => Promise<Result>) => Promise<Result>,
): AsyncGenerator<{ readonly name: string; readonly kind: EntryKind }> {
  const doing = `list ${spot.path}`;
  const folder = await busy(doing, () => openDirectory(spot.at(".")));
  try {
    await tried(doing, spot.verify);
    for (let item = await nextIn(folder); item !== null; item = await nextIn(folder))
      yield { name: item.name, kind: kindOf(item) };
  } catch (error) {
    throw failure(error, doing);
  } finally {
    folder.closeSync();
  }
};

const makeFolder = async (spot: Spot, name: string, mode: number | undefined): Promise<void> => {
  try {
    await mkdir(spot.at(name), mode);
  } catch (error) {
    if (isCode(error, "EEXIST") && (await look(spot, name))?.kind === "folder") return;
    throw error;
  }
};

const remove = async (spot: Spot, name: string): Promise<void> => {
  const kind = (await look(spot, name))?.kind;
  if (kind === undefined) return;
  await (kind === "folder" ? rmdir(spot.at(name)) : unlink(spot.at(name)));
};

/** The system would replace a file under the new name; one that appears between the look and the rename is replaced. */
const renameEntry = async (spot: Spot, name: string, to: string): Promise<void> => {
  if ((await look(spot, to)) !== undefined) throw new DiskError("EEXIST", `${join(spot.path, to)} is there already`);
  await rename(spot.at(name), spot.at(to));
};

const entryOf = (stats: BigIntStats): Entry => ({
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

const tried = async <Result>(doing: string, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw failure(error, doing);
  }
};

const failure = (error: unknown, doing: string): DiskError => {
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

const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
