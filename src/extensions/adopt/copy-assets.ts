import { join } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { hashTree } from "../plugins/content-hash.ts";
import { copyFiles, ensureFolder, removePath } from "../plugins/store.ts";
import { readDiskTree, type PluginTree } from "../plugins/tree.ts";

/** Files or folders of another agent to copy to the folder of their kind in Parley's home. */
export type AssetCopy = {
  readonly kind: "commands" | "agents" | "skills";
  /** The folder they are in. */
  readonly folder: string;
  readonly names: readonly string[];
};

/** A copied file or folder, relative to Parley's home, and the hash of its content. */
export type CopiedAsset = { readonly kind: AssetCopy["kind"]; readonly name: string; readonly hash: string };

/** The longest command or agent file. */
const maxFileBytes = 1_000_000;

/** Copies files and folders. Links in them are left out, and what is there already is never replaced. */
export const copyAssets = async (
  disk: Disk,
  home: string,
  { kind, folder, names }: AssetCopy,
): Promise<{ readonly copied: readonly CopiedAsset[]; readonly problems: readonly string[] }> => {
  const copied: CopiedAsset[] = [];
  const problems: string[] = [];
  const target = await ensureFolder(disk, join(home, kind));
  for (const name of names)
    try {
      const tree = await readAsset(disk, join(folder, name), kind);
      const parent = await disk.openFolder(target);
      try {
        if ((await parent.stat(name)) !== undefined) throw new Error("it is there already");
        if (kind === "skills") {
          await parent.makeFolder(name, 0o700);
          const root = await parent.openFolder(name);
          await copyFiles(root, tree).finally(root.close);
        } else await copyFiles(parent, tree);
      } finally {
        await parent.close();
      }
      copied.push({ kind, name, hash: await hashTree(await readAsset(disk, join(target, name), kind)) });
    } catch (error) {
      problems.push(`${join(folder, name)} was not copied: ${error instanceof Error ? error.message : String(error)}`);
    }
  return { copied, problems };
};

/** Removes copies that did not change since. Returns the others. */
export const removeCopies = async (
  disk: Disk,
  home: string,
  copies: readonly CopiedAsset[],
): Promise<readonly CopiedAsset[]> => {
  const kept: CopiedAsset[] = [];
  for (const copy of copies) {
    const { kind, name, hash } = copy;
    const path = join(home, kind, name);
    if ((await disk.canonicalPath(path).catch(() => undefined)) === undefined) continue;
    const current = await readAsset(disk, path, kind).then(hashTree, () => "");
    if (current === hash) await removePath(disk, join(home, kind), name);
    else kept.push(copy);
  }
  return kept;
};

/** A skill is a folder; a command or an agent is a tree with one file. */
const readAsset = async (disk: Disk, path: string, kind: AssetCopy["kind"]): Promise<PluginTree> => {
  if (kind === "skills") return readDiskTree(disk, path);
  const head = await disk.readHead(path, { maxBytes: maxFileBytes });
  if (head === undefined) throw new Error("it could not be read");
  const bytes = head.bytes as Uint8Array;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return {
    files: [{ path: name, size: bytes.length, isExecutable: false }],
    problems: [],
    read: () => Promise.resolve(bytes),
  };
};
