import { DiskError } from "./disk.ts";

/** What another program may leave on a disk. */
export type Planted =
  | { readonly kind: "file"; readonly text: string; readonly mode?: number }
  | { readonly kind: "folder"; readonly mode?: number }
  | { readonly kind: "link"; readonly to: string }
  | { readonly kind: "other" };

/** Anything on the disk. `number` and `change` tell it from everything else there ever was. */
export type Node = FolderNode | FileNode | LinkNode | OtherNode;
type Base = { readonly number: number; mode: number; modified: number; change: number };
export type FolderNode = Base & {
  readonly kind: "folder";
  readonly children: Map<string, Node>;
  /** The names a power loss would leave. */
  safe: ReadonlyMap<string, Node>;
  gone: boolean;
};
export type FileNode = Base & {
  readonly kind: "file";
  bytes: Uint8Array;
  /** The bytes a power loss would leave. */
  safe: Uint8Array;
};
type LinkNode = Base & { readonly kind: "link"; readonly to: string };
type OtherNode = Base & { readonly kind: "other" };

/** All of a disk, and what makes and marks its nodes. */
export type Store = {
  readonly root: FolderNode;
  readonly base: (mode: number) => Base;
  readonly touch: (node: FolderNode | FileNode) => void;
};

/** An empty disk. */
export const newStore = (now: () => number): Store => {
  let count = 0;
  let change = 0;
  const base = (mode: number): Base => ({ number: (count += 1), mode, modified: now(), change: (change += 1) });
  const root = emptyFolder(base(0o755));
  const touch = (node: FolderNode | FileNode): void => {
    node.modified = now();
    node.change = change += 1;
  };
  return { root, base, touch };
};

/** A folder with nothing in it. */
export const emptyFolder = (base: Base): FolderNode => ({
  ...base,
  kind: "folder",
  children: new Map(),
  safe: new Map(),
  gone: false,
});

type Followed = { readonly node: Node; readonly names: readonly string[] };

/** Finds what a path leads to, all links followed. */
export const follow = (root: FolderNode, path: string): Followed | undefined => {
  const pending = partsOf(path);
  let trail: readonly { readonly name: string; readonly node: Node }[] = [];
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
    pending.unshift(...partsOf(node.to));
  }
  return { node: trail.at(-1)?.node ?? root, names: trail.map(({ name }) => name) };
};

const partsOf = (path: string): string[] => path.split("/").filter((part) => part !== "" && part !== ".");

/** Puts anything at a path and makes the folders it needs. */
export const plant = (store: Store, path: string, what: Planted): void => {
  const names = partsOf(path);
  const last = names.pop();
  if (last === undefined) throw failed("EINVAL", path);
  let folder = store.root;
  for (const name of names) {
    const found = folder.children.get(name);
    const next: Node = found ?? nodeOf(store, { kind: "folder" });
    if (found === undefined) add(store, folder, name, next);
    if (next.kind !== "folder") throw failed("ENOTDIR", path);
    folder = next;
  }
  add(store, folder, last, nodeOf(store, what));
};

const add = (store: Store, folder: FolderNode, name: string, node: Node): void => {
  const before = folder.children.get(name);
  if (before?.kind === "folder") before.gone = true;
  folder.children.set(name, node);
  folder.safe = new Map(folder.safe).set(name, node);
  store.touch(folder);
};

const nodeOf = (store: Store, what: Planted): Node => {
  switch (what.kind) {
    case "file": {
      const bytes = new TextEncoder().encode(what.text);
      return { ...store.base(what.mode ?? 0o644), kind: "file", bytes, safe: bytes };
    }
    case "folder":
      return emptyFolder(store.base(what.mode ?? 0o755));
    case "link":
      return { ...store.base(0o777), kind: "link", to: what.to };
    case "other":
      return { ...store.base(0o644), kind: "other" };
  }
};

/** Takes away whatever stands at a path. */
export const uproot = (store: Store, path: string): void => {
  const names = partsOf(path);
  const last = names.pop();
  const parent = follow(store.root, names.join("/"))?.node;
  if (last === undefined || parent?.kind !== "folder") return;
  const found = parent.children.get(last);
  if (found?.kind === "folder") found.gone = true;
  parent.children.delete(last);
  parent.safe = new Map([...parent.safe].filter(([name]) => name !== last));
  store.touch(parent);
};

/** Everything below a node, by path. */
export const branches = (node: Node, path: string): readonly (readonly [string, string])[] => {
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
        : [...node.children].flatMap(([name, child]) => branches(child, `${path}/${name}`));
  }
};

/** A failure as the system would name it. */
export const failed = (code: string, path: string): DiskError => new DiskError(code, `${path}: ${code}`);
