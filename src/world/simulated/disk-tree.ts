import { DiskError } from "../disk.ts";

/** An entry that another program may leave on a disk. */
export type SeedEntry =
  | { readonly kind: "file"; readonly text: string; readonly mode?: number }
  | { readonly kind: "folder"; readonly mode?: number }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "other" };

/** Any entry on the disk. `number` and `change` distinguish it from every other entry and version. */
export type DiskNode = FolderNode | FileNode | LinkNode | OtherNode;
type DiskNodeBase = { readonly number: number; mode: number; modified: number; change: number };
export type FolderNode = DiskNodeBase & {
  readonly kind: "folder";
  readonly children: Map<string, DiskNode>;
  /** The names that would survive a power loss. */
  safe: ReadonlyMap<string, DiskNode>;
  gone: boolean;
};
export type FileNode = DiskNodeBase & {
  readonly kind: "file";
  bytes: Uint8Array;
  /** The bytes that would survive a power loss. */
  safe: Uint8Array;
};
type LinkNode = DiskNodeBase & { readonly kind: "link"; readonly to: string };
type OtherNode = DiskNodeBase & { readonly kind: "other" };

/** The whole disk, with functions that create and touch nodes. */
export type DiskStore = {
  readonly root: FolderNode;
  readonly base: (mode: number) => DiskNodeBase;
  readonly touch: (node: FolderNode | FileNode) => void;
};

/** Creates an empty disk. */
export const createDiskStore = (now: () => number): DiskStore => {
  let count = 0;
  let change = 0;
  const base = (mode: number): DiskNodeBase => ({ number: (count += 1), mode, modified: now(), change: (change += 1) });
  const root = createEmptyFolder(base(0o755));
  const touch = (node: FolderNode | FileNode): void => {
    node.modified = now();
    node.change = change += 1;
  };
  return { root, base, touch };
};

/** Creates an empty folder. */
export const createEmptyFolder = (base: DiskNodeBase): FolderNode => ({
  ...base,
  kind: "folder",
  children: new Map(),
  safe: new Map(),
  gone: false,
});

type FollowedPath = { readonly node: DiskNode; readonly names: readonly string[] };

/** Resolves a path, following all links. */
export const followPath = (root: FolderNode, path: string): FollowedPath | undefined => {
  const pending = splitPath(path);
  let trail: readonly { readonly name: string; readonly node: DiskNode }[] = [];
  for (let hops = 0; pending.length > 0;) {
    const name = pending.shift() ?? "";
    if (name === "..") {
      trail = trail.slice(0, -1);
      continue;
    }
    const here = trail.at(-1)?.node ?? root;
    const node = here.kind === "folder" ? here.children.get(name) : undefined;
    if (node === undefined) return undefined;
    if (node.kind !== "link") {
      trail = [...trail, { name, node }];
      continue;
    }
    if ((hops += 1) > 40) return undefined;
    if (node.to.startsWith("/")) trail = [];
    pending.unshift(...splitPath(node.to));
  }
  return { node: trail.at(-1)?.node ?? root, names: trail.map(({ name }) => name) };
};

const splitPath = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

/** Creates an entry at a path, with the folders it needs. */
export const seedEntry = (store: DiskStore, path: string, entry: SeedEntry): void => {
  const names = splitPath(path);
  const last = names.pop();
  if (last === undefined) throw createDiskError("EINVAL", path);
  let folder = store.root;
  for (const name of names) {
    const found = folder.children.get(name);
    const next: DiskNode = found ?? createNode(store, { kind: "folder" });
    if (found === undefined) addChild(store, folder, name, next);
    if (next.kind !== "folder") throw createDiskError("ENOTDIR", path);
    folder = next;
  }
  addChild(store, folder, last, createNode(store, entry));
};

const addChild = (store: DiskStore, folder: FolderNode, name: string, node: DiskNode): void => {
  const before = folder.children.get(name);
  if (before?.kind === "folder") before.gone = true;
  folder.children.set(name, node);
  folder.safe = new Map(folder.safe).set(name, node);
  store.touch(folder);
};

const createNode = (store: DiskStore, entry: SeedEntry): DiskNode => {
  switch (entry.kind) {
    case "file": {
      const bytes = new TextEncoder().encode(entry.text);
      return { ...store.base(entry.mode ?? 0o644), kind: "file", bytes, safe: bytes };
    }
    case "folder":
      return createEmptyFolder(store.base(entry.mode ?? 0o755));
    case "link":
      return { ...store.base(0o777), kind: "link", to: entry.to };
    case "other":
      return { ...store.base(0o644), kind: "other" };
  }
};

/** Removes the entry at a path with everything below it. */
export const removeTree = (store: DiskStore, path: string): void => {
  const names = splitPath(path);
  const last = names.pop();
  const parent = followPath(store.root, names.join("/"))?.node;
  if (last === undefined || parent?.kind !== "folder") return;
  const found = parent.children.get(last);
  if (found?.kind === "folder") found.gone = true;
  parent.children.delete(last);
  parent.safe = new Map([...parent.safe].filter(([name]) => name !== last));
  store.touch(parent);
};

/** Everything below a node, by path. */
export const listTree = (node: DiskNode, path: string): readonly (readonly [string, string])[] => {
  switch (node.kind) {
    case "file":
      return [[path, new TextDecoder().decode(node.bytes)]];
    case "link":
      return [[path, `-> ${node.to}`]];
    case "other":
      return [[path, "(other)"]];
    case "folder":
      return node.children.size === 0
        ? [[`${path}/`, ""]]
        : [...node.children].flatMap(([name, child]) => listTree(child, `${path}/${name}`));
  }
};

/** An error with the system's code. */
export const createDiskError = (code: string, path: string): DiskError => new DiskError(code, `${path}: ${code}`);
