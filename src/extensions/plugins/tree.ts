import { join, posix } from "node:path";
import type { Disk, Folder } from "../../world/disk.ts";

/** The files of a plugin: a copied folder on disk, or files in memory before they are copied. */
export type PluginTree = {
  /** Sorted by path. Paths are relative, with slashes. */
  readonly files: readonly TreeFile[];
  readonly read: (path: string) => Promise<Uint8Array>;
  /** Entries that are left out, and why. */
  readonly problems: readonly string[];
};

/** A file of a tree. `identity` changes with the file, where it is on disk. */
export type TreeFile = {
  readonly path: string;
  readonly size: number;
  readonly isExecutable: boolean;
  readonly identity?: string;
};

/** Limits of a plugin. */
export const treeLimits = { files: 10_000, fileBytes: 20_000_000, bytes: 100_000_000, depth: 16, pathLength: 400 };

/** A source whose files cannot be a plugin's, with a message for the person. */
export class PluginSourceError extends Error {}

/** Lists a folder on disk. Links are left out, and so is the repository (`.git`). Throws a `PluginSourceError` above the limits. */
export const readDiskTree = async (disk: Disk, root: string): Promise<PluginTree> => {
  const files: TreeFile[] = [];
  const problems: string[] = [];
  const enter = async (folder: Folder, above: string, depth: number): Promise<void> => {
    for await (const { name, kind } of folder.list()) {
      const path = above === "" ? name : `${above}/${name}`;
      if (name === ".git") continue;
      if (kind === "folder") {
        if (depth >= treeLimits.depth) throw new PluginSourceError(`${path} is nested too deeply.`);
        const inner = await folder.openFolder(name);
        await enter(inner, path, depth + 1).finally(inner.close);
      } else if (kind === "file") {
        const { size = 0, mode = 0, identity = "" } = (await folder.stat(name)) ?? {};
        files.push({ path, size, isExecutable: (mode & 0o100) !== 0, identity });
        if (files.length > treeLimits.files) checkTree(files);
      } else problems.push(`${path} is left out: it is ${kind === "link" ? "a link" : "no regular file"}.`);
    }
  };
  const folder = await disk.openFolder(root);
  await enter(folder, "", 0).finally(folder.close);
  checkTree(files);
  return {
    files: sortByPath(files),
    problems,
    read: async (path) => {
      const head = await disk.readHead(join(root, path), { maxBytes: treeLimits.fileBytes });
      if (head === undefined) throw new PluginSourceError(`${path} could not be read.`);
      return head.bytes as Uint8Array;
    },
  };
};

/** Throws a `PluginSourceError` if files are too many, too large, or have names that are no ordinary paths. */
export const checkTree = (files: readonly TreeFile[]): void => {
  if (files.length > treeLimits.files)
    throw new PluginSourceError(`It has more than ${treeLimits.files} files, the limit of a plugin.`);
  const invalid = files.find(({ path }) => !isPlainPath(path));
  if (invalid !== undefined) throw new PluginSourceError(`${JSON.stringify(invalid.path)} is not a valid file name.`);
  const large = files.find(({ size }) => size > treeLimits.fileBytes);
  if (large !== undefined)
    throw new PluginSourceError(`${large.path} has ${large.size} bytes; the limit is ${treeLimits.fileBytes}.`);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (total > treeLimits.bytes)
    throw new PluginSourceError(`Its files have ${total} bytes; the limit of a plugin is ${treeLimits.bytes}.`);
};

/** Whether a path stays inside its root and has no characters that act on terminals, shells of other systems or git. */
const isPlainPath = (path: string): boolean =>
  path.length <= treeLimits.pathLength &&
  !/[\p{Cc}\p{Cf}\u2028\u2029\\:]/u.test(path) &&
  path.split("/").every((name) => name !== "" && name !== "." && name !== ".." && !/^\.git$/i.test(name));

/** The tree without the bytecode that Python writes beside its files. */
export const withoutBytecode = (tree: PluginTree): PluginTree => ({
  ...tree,
  files: tree.files.filter(({ path }) => bytecodeParent(path) === undefined),
});

/** The folder in which a file of bytecode is, in its `__pycache__`; undefined for other files. */
export const bytecodeParent = (path: string): string | undefined => /^((?:[^/]+\/)*?)__pycache__\//.exec(path)?.[1];

/** The part of a tree below a folder. */
export const subtree = (tree: PluginTree, folder: string): PluginTree => {
  const prefix = folder === "" ? "" : `${folder}/`;
  return {
    files: tree.files
      .filter(({ path }) => path.startsWith(prefix))
      .map((file) => ({ ...file, path: file.path.slice(prefix.length) })),
    problems: tree.problems.filter((problem) => problem.startsWith(prefix)),
    read: (path) => tree.read(prefix + path),
  };
};

/** Normalizes a path that a manifest names, relative to the plugin's root; undefined if it leads outside. */
export const resolveInside = (path: unknown): string | undefined => {
  if (typeof path !== "string" || path.includes("\\") || path.includes("\0") || path.startsWith("/")) return undefined;
  const normal = posix.normalize(path).replace(/\/$/, "");
  return normal === ".." || normal.startsWith("../") || /^[A-Za-z]:/.test(normal)
    ? undefined
    : normal === "."
      ? ""
      : normal;
};

/** Sorts files by path, in an order that does not depend on the language. */
export const sortByPath = (files: readonly TreeFile[]): readonly TreeFile[] =>
  files.toSorted((one, other) => (one.path < other.path ? -1 : 1));
