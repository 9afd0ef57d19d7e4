import { isPlainName } from "./disk-names.ts";
import type { AppendHandle, Disk, Entry, EntryKind, FileHandle, Folder } from "./disk.ts";
import { crashed } from "./simulated-disk-crash.ts";
import {
  branches,
  emptyFolder,
  failed,
  follow,
  newStore,
  plant,
  uproot,
  type FileNode,
  type FolderNode,
  type Node,
  type Planted,
  type Store,
} from "./simulated-disk-tree.ts";

/** A disk in memory. It behaves as a real one does for somebody who is not root. */
export type SimulatedDisk = Disk & {
  /** Puts anything anywhere, as another program would: whatever stood there goes, missing folders are made. */
  readonly plant: (path: string, what: Planted) => void;
  /** Takes away whatever stands at a path, all of it. */
  readonly uproot: (path: string) => void;
  /** Everything there is, by path: the text of files, `-> target` for links, `(other)` for the rest. Empty folders end in a slash. */
  readonly tree: () => { readonly [path: string]: string };
  /**
   * The disk as a power loss right now may leave it; this one goes on. What was flushed is there. Of the rest, any
   * name may be missing, and of any file some blocks may be new, some old and some zero.
   */
  readonly crash: (random: () => number, before?: Watch) => SimulatedDisk;
};

/** A change about to be made. */
export type DiskChange = {
  readonly kind: "make" | "put" | "remove" | "rename" | "create" | "append" | "truncate" | "flush";
  readonly path: string;
};

/** How a change fails: the system's code, and how many bytes an append had written by then. */
export type DiskTrouble = { readonly code: string; readonly written?: number };

/** Sees a change just before it is made, and may let it fail. */
type Watch = (change: DiskChange) => DiskTrouble | undefined;

/** What a simulated disk is made of. */
export type SimulatedDiskOptions = { readonly now?: () => number; readonly before?: Watch };

/** A disk in memory with nothing on it. */
export const simulatedDisk = ({ now = () => 0, before = () => undefined }: SimulatedDiskOptions = {}): SimulatedDisk =>
  diskOf(newStore(now), { now, before });

/** A disk's store, and who hears of its changes. */
type Platter = Store & { readonly before: (kind: DiskChange["kind"], path: string) => DiskTrouble | undefined };

const diskOf = (tree: Store, options: Required<SimulatedDiskOptions>): SimulatedDisk => {
  const store: Platter = { ...tree, before: (kind, path) => options.before({ kind, path }) };
  return {
    canonical: async (path) => {
      const found = follow(store.root, path);
      return found === undefined ? undefined : `/${found.names.join("/")}`;
    },
    open: async (path) => {
      const found = follow(store.root, path);
      if (found === undefined) throw failed("ENOENT", path);
      if (path !== `/${found.names.join("/")}`) throw failed("ELOOP", path);
      return folderOf(store, path, readable(asFolder(found.node, path), path));
    },
    names: async (path) => {
      const found = follow(store.root, path);
      if (found === undefined) throw failed("ENOENT", path);
      if (path !== `/${found.names.join("/")}`) throw failed("ELOOP", path);
      const { children } = readable(asFolder(found.node, path), path);
      return [...children].map(([name, { kind }]) => ({ name, kind }));
    },
    plant: (path, what) => plant(store, path, what),
    uproot: (path) => uproot(store, path),
    tree: () => Object.fromEntries(branches(store.root, "")),
    crash: (random, before = () => undefined) => {
      const fresh = newStore(options.now);
      return diskOf({ ...fresh, root: crashed(store.root, fresh, random) }, { ...options, before });
    },
  };
};

/** Makes a change, unless something stops it. */
const attempt = (store: Platter, { kind, path }: DiskChange): void => {
  const trouble = store.before(kind, path);
  if (trouble !== undefined) throw failed(trouble.code, path);
};

const folderOf = (store: Platter, path: string, node: FolderNode): Folder => {
  let open = true;
  const child = (name: string): string => (path === "/" ? `/${name}` : `${path}/${name}`);
  const reach = (name?: string): void => {
    if (!open) throw failed("EBADF", path);
    if (name === undefined) return;
    if (!isPlainName(name, "simulated")) throw failed("EINVAL", child(name));
    if ((node.mode & 0o100) === 0) throw failed("EACCES", path);
  };
  const find = (name: string): Node | undefined => {
    reach(name);
    return node.children.get(name);
  };
  const there = (name: string): Node => {
    const found = find(name);
    if (found === undefined) throw failed("ENOENT", child(name));
    return found;
  };
  const change = (name: string): void => {
    reach(name);
    if ((node.mode & 0o200) === 0) throw failed("EACCES", path);
    if (node.gone) throw failed("ENOENT", path);
    store.touch(node);
  };

  const folder: Folder = {
    path,
    self: async () => {
      reach();
      return entryOf(node);
    },
    look: async (name) => {
      const found = find(name);
      return found === undefined ? undefined : entryOf(found);
    },
    folder: async (name) => folderOf(store, child(name), readable(asFolder(there(name), child(name)), child(name))),
    file: async (name) => fileOf(child(name), readable(asFile(there(name), child(name)), child(name))),
    link: async (name) => {
      const found = there(name);
      if (found.kind !== "link") throw failed("EINVAL", child(name));
      return found.to;
    },
    list: async function* () {
      reach();
      yield* [...node.children].map(([name, { kind }]) => ({ name, kind }));
    },
    makeFolder: async (name, mode = 0o755) => {
      const found = find(name);
      if (found?.kind === "folder") return;
      if (found !== undefined) throw failed("EEXIST", child(name));
      change(name);
      attempt(store, { kind: "make", path: child(name) });
      node.children.set(name, emptyFolder(store.base(mode)));
    },
    put: async (name, bytes, mode) => {
      const before = find(name);
      if (before?.kind === "folder") throw failed("EISDIR", child(name));
      change(name);
      attempt(store, { kind: "put", path: child(name) });
      const kept = mode ?? (before?.kind === "file" ? before.mode & 0o777 : 0o644);
      const copy = bytes.slice();
      const file: FileNode = { ...store.base(kept), kind: "file", bytes: copy, safe: copy };
      node.children.set(name, file);
      node.safe = new Map(node.children);
      return entryOf(file).identity;
    },
    replace: async (name, bytes, was) => {
      const now = find(name);
      if ((now === undefined ? "absent" : entryOf(now).identity) !== was) throw failed("ESTALE", child(name));
      return folder.put(name, bytes);
    },
    remove: async (name) => {
      const found = find(name);
      if (found === undefined) return;
      if (found.kind === "folder" && found.children.size > 0) throw failed("ENOTEMPTY", child(name));
      change(name);
      attempt(store, { kind: "remove", path: child(name) });
      if (found.kind === "folder") found.gone = true;
      node.children.delete(name);
    },
    rename: async (name, to) => {
      const found = there(name);
      if (find(to) !== undefined) throw failed("EEXIST", child(to));
      change(name);
      attempt(store, { kind: "rename", path: child(name) });
      node.children.delete(name);
      node.children.set(to, found);
    },
    append: async (name) => {
      const found = find(name);
      if (found !== undefined) return appendOf(store, child(name), writable(asFile(found, child(name)), child(name)));
      change(name);
      attempt(store, { kind: "create", path: child(name) });
      const nothing = new Uint8Array();
      const file: FileNode = { ...store.base(0o600), kind: "file", bytes: nothing, safe: nothing };
      node.children.set(name, file);
      return appendOf(store, child(name), file);
    },
    flush: async () => {
      reach();
      attempt(store, { kind: "flush", path });
      node.safe = new Map(node.children);
    },
    close: async () => {
      open = false;
    },
  };
  return folder;
};

const fileOf = (path: string, node: FileNode): FileHandle => {
  let open = true;
  const bytes = (): Uint8Array => {
    if (!open) throw failed("EBADF", path);
    return node.bytes;
  };
  return {
    look: async () => {
      bytes();
      return entryOf(node);
    },
    read: async (at, length) => bytes().slice(at, at + length),
    close: async () => {
      open = false;
    },
  };
};

const appendOf = (store: Platter, path: string, node: FileNode): AppendHandle => {
  const file = fileOf(path, node);
  return {
    ...file,
    append: async (bytes) => {
      await file.look();
      const trouble = store.before("append", path);
      const written = trouble === undefined ? bytes.length : (trouble.written ?? 0);
      const grown = new Uint8Array(node.bytes.length + written);
      grown.set(node.bytes);
      grown.set(bytes.subarray(0, written), node.bytes.length);
      node.bytes = grown;
      store.touch(node);
      if (trouble !== undefined) throw failed(trouble.code, path);
    },
    flush: async () => {
      await file.look();
      attempt(store, { kind: "flush", path });
      node.safe = node.bytes;
    },
    truncate: async (size) => {
      await file.look();
      attempt(store, { kind: "truncate", path });
      const cut = new Uint8Array(size);
      cut.set(node.bytes.subarray(0, size));
      node.bytes = cut;
      store.touch(node);
    },
  };
};

const entryOf = (node: Node): Entry => {
  const size = sizeOf(node);
  const { kind, modified, mode } = node;
  return { kind, size, modified, mode, identity: `simulated.${node.number}.${size}.${node.change}` };
};

const sizeOf = (node: Node): number => {
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

const asFolder = (node: Node, path: string): FolderNode => {
  if (node.kind === "folder") return node;
  throw failed(node.kind === "link" ? "ELOOP" : "ENOTDIR", path);
};

const notFiles: { readonly [Kind in Exclude<EntryKind, "file">]: string } = {
  folder: "EISDIR",
  link: "ELOOP",
  other: "ENXIO",
};

const asFile = (node: Node, path: string): FileNode => {
  if (node.kind === "file") return node;
  throw failed(notFiles[node.kind], path);
};

const writable = (node: FileNode, path: string): FileNode => {
  if ((node.mode & 0o600) !== 0o600) throw failed("EACCES", path);
  return node;
};

const readable = <Kind extends FolderNode | FileNode>(node: Kind, path: string): Kind => {
  if ((node.mode & 0o400) === 0) throw failed("EACCES", path);
  return node;
};
