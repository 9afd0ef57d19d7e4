import { isSingleComponent } from "../file-names.ts";
import type { AppendHandle, Disk, DiskEntry, EntryKind, FileHandle, Folder } from "../disk.ts";
import { crashFolder } from "./disk-crash.ts";
import {
  listTree,
  createEmptyFolder,
  createDiskError,
  followPath,
  createDiskStore,
  seedEntry,
  removeTree,
  type FileNode,
  type FolderNode,
  type DiskNode,
  type SeedEntry,
  type DiskStore,
} from "./disk-tree.ts";

/** A disk in memory. It behaves as a real one does for a user who is not root. */
export type SimulatedDisk = Disk & {
  /**
   * Creates any entry anywhere, as another program would: an existing entry is replaced, missing folders are created.
   */
  readonly seed: (path: string, entry: SeedEntry) => void;
  /** Removes the entry at a path with everything below it. */
  readonly removeTree: (path: string) => void;
  /**
   * Everything on the disk, by path: the text of files, `-> target` for links, `(other)` for the rest. Empty folders
   * end in a slash.
   */
  readonly snapshot: () => { readonly [path: string]: string };
  /**
   * A copy of the disk as a power loss right now may leave it; this one stays usable. Flushed data is there. Of the
   * rest, any name may be missing, and any file may have new, old and zero blocks.
   */
  readonly crash: (random: () => number, before?: BeforeChange) => SimulatedDisk;
};

/**
 * A change about to be made.
 *
 * @internal Exported for its tests.
 */
export type DiskChange = {
  readonly kind: "make" | "put" | "remove" | "rename" | "create" | "append" | "truncate" | "flush";
  readonly path: string;
};

/**
 * An injected failure: the system's code, and how many bytes an append had written by then.
 *
 * @internal Exported for its tests.
 */
export type DiskFault = { readonly code: string; readonly written?: number };

/** Called just before a change; may make it fail. */
type BeforeChange = (change: DiskChange) => DiskFault | undefined;

/** Options of a simulated disk. */
export type SimulatedDiskOptions = { readonly now?: () => number; readonly before?: BeforeChange };

/** Creates an empty disk in memory. */
export const simulatedDisk = ({ now = () => 0, before = () => undefined }: SimulatedDiskOptions = {}): SimulatedDisk =>
  createDisk(createDiskStore(now), { now, before });

/** A disk's store with its change hook. */
type ObservedStore = DiskStore & { readonly before: (kind: DiskChange["kind"], path: string) => DiskFault | undefined };

const createDisk = (tree: DiskStore, options: Required<SimulatedDiskOptions>): SimulatedDisk => {
  const store: ObservedStore = { ...tree, before: (kind, path) => options.before({ kind, path }) };
  return {
    canonicalPath: async (path) => {
      const found = followPath(store.root, path);
      return found === undefined ? undefined : `/${found.names.join("/")}`;
    },
    openFolder: async (path) => {
      const found = followPath(store.root, path);
      if (found === undefined) throw createDiskError("ENOENT", path);
      if (path !== `/${found.names.join("/")}`) throw createDiskError("ELOOP", path);
      return createFolder(store, path, readable(asFolder(found.node, path), path));
    },
    listNames: async (path) => {
      const found = followPath(store.root, path);
      if (found === undefined) throw createDiskError("ENOENT", path);
      if (path !== `/${found.names.join("/")}`) throw createDiskError("ELOOP", path);
      const { children } = readable(asFolder(found.node, path), path);
      return [...children].map(([name, { kind }]) => ({ name, kind }));
    },
    readHead: async (path, { maxBytes, known }) => {
      const found = followPath(store.root, path);
      if (found?.node.kind !== "file" || path !== `/${found.names.join("/")}`) return undefined;
      const { identity } = toDiskEntry(found.node);
      const isUnchanged = identity === known;
      return {
        identity,
        bytes: isUnchanged ? "unchanged" : readable(found.node, path).bytes.slice(0, maxBytes),
      };
    },
    listIdentities: async (paths) =>
      paths.map((path) => {
        const found = followPath(store.root, path);
        if (found?.node.kind !== "file" || path !== `/${found.names.join("/")}`) return undefined;
        return toDiskEntry(found.node).identity;
      }),
    seed: (path, entry) => seedEntry(store, path, entry),
    removeTree: (path) => removeTree(store, path),
    snapshot: () => Object.fromEntries(listTree(store.root, "")),
    crash: (random, before = () => undefined) => {
      const fresh = createDiskStore(options.now);
      return createDisk({ ...fresh, root: crashFolder(store.root, fresh, random) }, { ...options, before });
    },
  };
};

/** Calls the hook before a change, and throws the failure it injects. */
const announceChange = (store: ObservedStore, { kind, path }: DiskChange): void => {
  const fault = store.before(kind, path);
  if (fault !== undefined) throw createDiskError(fault.code, path);
};

const createFolder = (store: ObservedStore, path: string, node: FolderNode): Folder => {
  let open = true;
  const child = (name: string): string => (path === "/" ? `/${name}` : `${path}/${name}`);
  const checkAccess = (name?: string): void => {
    if (!open) throw createDiskError("EBADF", path);
    if (name === undefined) return;
    if (!isSingleComponent(name, "simulated")) throw createDiskError("EINVAL", child(name));
    if ((node.mode & 0o100) === 0) throw createDiskError("EACCES", path);
  };
  const find = (name: string): DiskNode | undefined => {
    checkAccess(name);
    return node.children.get(name);
  };
  const requireChild = (name: string): DiskNode => {
    const found = find(name);
    if (found === undefined) throw createDiskError("ENOENT", child(name));
    return found;
  };
  const change = (name: string): void => {
    checkAccess(name);
    if ((node.mode & 0o200) === 0) throw createDiskError("EACCES", path);
    if (node.gone) throw createDiskError("ENOENT", path);
    store.touch(node);
  };

  const folder: Folder = {
    path,
    statSelf: async () => {
      checkAccess();
      return toDiskEntry(node);
    },
    stat: async (name) => {
      const found = find(name);
      return found === undefined ? undefined : toDiskEntry(found);
    },
    openFolder: async (name) =>
      createFolder(store, child(name), readable(asFolder(requireChild(name), child(name)), child(name))),
    openFile: async (name) =>
      createFileHandle(child(name), readable(asFile(requireChild(name), child(name)), child(name))),
    readLink: async (name) => {
      const found = requireChild(name);
      if (found.kind !== "link") throw createDiskError("EINVAL", child(name));
      return found.to;
    },
    list: async function* () {
      checkAccess();
      yield* [...node.children].map(([name, { kind }]) => ({ name, kind }));
    },
    makeFolder: async (name, mode = 0o755) => {
      const found = find(name);
      if (found?.kind === "folder") return;
      if (found !== undefined) throw createDiskError("EEXIST", child(name));
      change(name);
      announceChange(store, { kind: "make", path: child(name) });
      node.children.set(name, createEmptyFolder(store.base(mode)));
    },
    writeFile: async (name, bytes, mode) => {
      const before = find(name);
      if (before?.kind === "folder") throw createDiskError("EISDIR", child(name));
      change(name);
      announceChange(store, { kind: "put", path: child(name) });
      const kept = mode ?? (before?.kind === "file" ? before.mode & 0o777 : 0o644);
      const copy = bytes.slice();
      const file: FileNode = { ...store.base(kept), kind: "file", bytes: copy, safe: copy };
      node.children.set(name, file);
      node.safe = new Map(node.children);
      return toDiskEntry(file).identity;
    },
    replaceFile: async (name, bytes, expected) => {
      const now = find(name);
      if ((now === undefined ? "absent" : toDiskEntry(now).identity) !== expected)
        throw createDiskError("ESTALE", child(name));
      return folder.writeFile(name, bytes);
    },
    remove: async (name) => {
      const found = find(name);
      if (found === undefined) return;
      if (found.kind === "folder" && found.children.size > 0) throw createDiskError("ENOTEMPTY", child(name));
      change(name);
      announceChange(store, { kind: "remove", path: child(name) });
      if (found.kind === "folder") found.gone = true;
      node.children.delete(name);
    },
    rename: async (name, to) => {
      const found = requireChild(name);
      if (find(to) !== undefined) throw createDiskError("EEXIST", child(to));
      change(name);
      announceChange(store, { kind: "rename", path: child(name) });
      node.children.delete(name);
      node.children.set(to, found);
    },
    openAppend: async (name) => {
      const found = find(name);
      if (found !== undefined)
        return createAppendHandle(store, child(name), writable(asFile(found, child(name)), child(name)));
      change(name);
      announceChange(store, { kind: "create", path: child(name) });
      const nothing = new Uint8Array();
      const file: FileNode = { ...store.base(0o600), kind: "file", bytes: nothing, safe: nothing };
      node.children.set(name, file);
      return createAppendHandle(store, child(name), file);
    },
    flush: async () => {
      checkAccess();
      announceChange(store, { kind: "flush", path });
      node.safe = new Map(node.children);
    },
    close: async () => {
      open = false;
    },
  };
  return folder;
};

const createFileHandle = (path: string, node: FileNode): FileHandle => {
  let open = true;
  const bytes = (): Uint8Array => {
    if (!open) throw createDiskError("EBADF", path);
    return node.bytes;
  };
  return {
    stat: async () => {
      bytes();
      return toDiskEntry(node);
    },
    read: async (at, length) => bytes().slice(at, at + length),
    close: async () => {
      open = false;
    },
  };
};

const createAppendHandle = (store: ObservedStore, path: string, node: FileNode): AppendHandle => {
  const file = createFileHandle(path, node);
  return {
    ...file,
    append: async (bytes) => {
      await file.stat();
      const fault = store.before("append", path);
      const written = fault === undefined ? bytes.length : (fault.written ?? 0);
      const grown = new Uint8Array(node.bytes.length + written);
      grown.set(node.bytes);
      grown.set(bytes.subarray(0, written), node.bytes.length);
      node.bytes = grown;
      store.touch(node);
      if (fault !== undefined) throw createDiskError(fault.code, path);
    },
    flush: async () => {
      await file.stat();
      announceChange(store, { kind: "flush", path });
      node.safe = node.bytes;
    },
    truncate: async (size) => {
      await file.stat();
      announceChange(store, { kind: "truncate", path });
      const cut = new Uint8Array(size);
      cut.set(node.bytes.subarray(0, size));
      node.bytes = cut;
      store.touch(node);
    },
  };
};

const toDiskEntry = (node: DiskNode): DiskEntry => {
  const size = sizeOf(node);
  const { kind, modified, mode } = node;
  return { kind, size, modified, mode, isOwn: true, identity: `simulated.${node.number}.${size}.${node.change}` };
};

const sizeOf = (node: DiskNode): number => {
  switch (node.kind) {
    case "file":
      return node.bytes.length;
    case "folder":
      return node.children.size;
    case "link":
      return node.to.length;
    case "other":
      return 0;
  }
};

const asFolder = (node: DiskNode, path: string): FolderNode => {
  if (node.kind === "folder") return node;
  throw createDiskError(node.kind === "link" ? "ELOOP" : "ENOTDIR", path);
};

const notAFileCodes: { readonly [Kind in Exclude<EntryKind, "file">]: string } = {
  folder: "EISDIR",
  link: "ELOOP",
  other: "ENXIO",
};

const asFile = (node: DiskNode, path: string): FileNode => {
  if (node.kind === "file") return node;
  throw createDiskError(notAFileCodes[node.kind], path);
};

const writable = (node: FileNode, path: string): FileNode => {
  if ((node.mode & 0o600) !== 0o600) throw createDiskError("EACCES", path);
  return node;
};

const readable = <Kind extends FolderNode | FileNode>(node: Kind, path: string): Kind => {
  if ((node.mode & 0o400) === 0) throw createDiskError("EACCES", path);
  return node;
};
