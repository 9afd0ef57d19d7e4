import { isPlainName } from "./disk-names.ts";
import type { Disk, Entry, EntryKind, FileHandle, Folder } from "./disk.ts";
import {
  branches,
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
};

/** A disk in memory with nothing on it. `now` tells the time of changes. */
export const simulatedDisk = (now: () => number = () => 0): SimulatedDisk => {
  const store = newStore(now);
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
    plant: (path, what) => plant(store, path, what),
    uproot: (path) => uproot(store, path),
    tree: () => Object.fromEntries(branches(store.root, "")),
  };
};

const folderOf = (store: Store, path: string, node: FolderNode): Folder => {
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

  return {
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
      node.children.set(name, { ...store.base(mode), kind: "folder", children: new Map(), gone: false });
    },
    put: async (name, bytes, mode) => {
      const before = find(name);
      if (before?.kind === "folder") throw failed("EISDIR", child(name));
      change(name);
      const kept = mode ?? (before?.kind === "file" ? before.mode & 0o777 : 0o644);
      const file: FileNode = { ...store.base(kept), kind: "file", bytes: bytes.slice() };
      node.children.set(name, file);
      return entryOf(file).identity;
    },
    remove: async (name) => {
      const found = find(name);
      if (found === undefined) return;
      if (found.kind === "folder" && found.children.size > 0) throw failed("ENOTEMPTY", child(name));
      change(name);
      if (found.kind === "folder") found.gone = true;
      node.children.delete(name);
    },
    close: async () => {
      open = false;
    },
  };
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

const readable = <Kind extends FolderNode | FileNode>(node: Kind, path: string): Kind => {
  if ((node.mode & 0o400) === 0) throw failed("EACCES", path);
  return node;
};
