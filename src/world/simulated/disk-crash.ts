import { createEmptyFolder, type FileNode, type FolderNode, type DiskNode, type DiskStore } from "./disk-tree.ts";

/** One of the states a power loss may leave a folder in, as a copy with everything flushed. */
export const crashFolder = (folder: FolderNode, store: DiskStore, random: () => number): FolderNode => {
  const copy = createEmptyFolder({ ...store.base(folder.mode), modified: folder.modified });
  for (const name of new Set([...folder.safe.keys(), ...folder.children.keys()])) {
    // File systems guarantee no order among names that were not flushed.
    const node = (random() < 0.5 ? folder.safe : folder.children).get(name);
    if (node !== undefined) copy.children.set(name, crashNode(node, store, random));
  }
  copy.safe = new Map(copy.children);
  return copy;
};

const crashNode = (node: DiskNode, store: DiskStore, random: () => number): DiskNode => {
  const base = { ...store.base(node.mode), modified: node.modified };
  switch (node.kind) {
    case "folder":
      return crashFolder(node, store, random);
    case "file": {
      const bytes = tearFile(node, random);
      return { ...base, kind: "file", bytes, safe: bytes };
    }
    case "link":
    case "other":
      return { ...node, ...base };
  }
};

/**
 * The bytes left of a file: its size and each of its blocks as flushed or as written since; a block that was never
 * written is zero.
 */
const tearFile = ({ bytes, safe }: FileNode, random: () => number): Uint8Array => {
  if (bytes === safe) return safe;
  const below = (limit: number): number => Math.floor(random() * limit);
  const [least, most] = [Math.min(bytes.length, safe.length), Math.max(bytes.length, safe.length)];
  const size = [safe.length, bytes.length, least + below(most - least + 1)][below(3)] ?? 0;
  const block = [1, 16, 64, 512, 4096][below(5)] ?? 1;
  // How many blocks were written: none, some, or all.
  const share = [0, 0.5, 0.9, 1][below(4)] ?? 0;
  const result = new Uint8Array(size);
  for (let at = 0; at < size; at += block) {
    const from = random() < share ? bytes : safe;
    result.set(from.subarray(at, Math.min(at + block, size)), at);
  }
  return result;
};
