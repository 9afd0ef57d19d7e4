import { DiskError } from "../disk.ts";

/** What another program may leave on a disk. */
export type SeedEntry =
  | { readonly kind: "file"; readonly text: string; readonly mode?: number }
  | { readonly kind: "folder"; readonly mode?: number }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "other" };

/** Anything on the disk. `number` and `change` tell it from everything else there ever was. */
export type DiskNode = FolderNode | FileNode | LinkNode | OtherNode;
type DiskNodeBase = { readonly number: number; mode: number; modified: number; change: number };
export type FolderNode = DiskNodeBase & {
  readonly kind: "folder";
  readonly children: Map<string, DiskNode>;
  /** The names a power loss would leave. */
  safe: ReadonlyMap<string, DiskNode>;
  gone: boolean;
};
export type FileNode = DiskNodeBase & {
  readonly kind: "file";
  bytes: Uint8Array;
  /** The bytes a power loss would leave. */
  safe: Uint8Array;
};
type LinkNode = DiskNodeBase & { readonly kind: "link"; readonly to: string };
type OtherNode = DiskNodeBase & { readonly kind: "other" };

/** All of a disk, and what makes and marks its nodes. */
export type DiskStore = {
  readonly root: FolderNode;
  readonly base: (mode: number) => DiskNodeBase;
  readonly touch: (node: FolderNode | FileNode) => void;
};

/** An empty disk. */
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

/** A folder with nothing in it. */
export const createEmptyFolder = (base: DiskNodeBase): FolderNode => ({
  ...base,
  kind: "folder",
  children: new Map(),
  safe: new Map(),
  gone: false,
});

type FollowedPath = { readonly node: DiskNode; readonly names: readonly string[] };

/** Finds what a path leads to, all links followed. */
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

/** Puts anything at a path and makes the folders it needs. */
export const seedEntry = (store: DiskStore, path: string, what: SeedEntry): void => {
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
  addChild(store, folder, last, createNode(store, what));
};

const addChild = (store: DiskStore, folder: FolderNode, name: string, node: DiskNode): void => {
  const before = folder.children.get(name);
  if (before?.kind === "folder") before.gone = true;
  folder.children.set(name, node);
  folder.safe = new Map(folder.safe).set(name, node);
  store.touch(folder);
};

const createNode = (store: DiskStore, what: SeedEntry): DiskNode => {
  switch (what.kind) {
    case "file": {
      const bytes = new TextEncoder().encode(what.text);
      return { ...store.base(what.mode ?? 0o644), kind: "file", bytes, safe: bytes };
    }
    case "folder":
      return createEmptyFolder(store.base(what.mode ?? 0o755));
    case "link":
      return { ...store.base(0o777), kind: "link", to: what.to };
    case "other":
      return { ...store.base(0o644), kind: "other" };
  }
};

/** Takes away whatever stands at a path. */
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

/** A failure as the system would name it. */
export const createDiskError = (code: string, path: string): DiskError => new DiskError(code, `${path}: ${code}`);
