import { posix } from "node:path";
import { DiskError, type Disk, type EntryKind } from "../world/index.ts";
import { configRisk } from "./command-git-config.ts";
import { repositoriesIn } from "./command-git-index.ts";

/** What git finds from a folder: the root of a repository, if any, and why its settings could make git run something. */
export type Repository = { readonly root: string | undefined; readonly risk: string | undefined };

/** Looks for the repository around a canonical folder as git does, without running git. */
export const findRepository = async (disk: Disk, folder: string): Promise<Repository> => {
  for (let at = folder; ; at = posix.dirname(at)) {
    try {
      const found = await repositoryAt(disk, at);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return { root: at, risk: `${at} cannot be looked into` };
    }
    if (at === "/") return { root: undefined, risk: undefined };
  }
};

const repositoryAt = async (disk: Disk, root: string): Promise<Repository | undefined> => {
  const kind = await kindAt(disk, root, ".git");
  if (kind !== undefined) return { root, risk: await riskAt(disk, root, 0) };
  const isBare =
    (await kindAt(disk, root, "HEAD")) !== undefined && (await kindAt(disk, root, "objects")) !== undefined;
  return isBare ? { root, risk: `${root} looks like a repository without a working tree` } : undefined;
};

const deepest = 5;

/** The risk of the repository whose working tree this is. `depth` is how many others it lies in. */
const riskAt = async (disk: Disk, root: string, depth: number): Promise<string | undefined> => {
  if (depth > deepest) return "repositories lie too deep inside it";
  const path = await gitFolder(disk, root);
  const shared = path && (await textAt(disk, path, "commondir"))?.trim();
  const common = path && (shared === undefined ? path : await disk.canonical(posix.resolve(path, shared)));
  if (path === undefined || common === undefined) return "its .git leads nowhere";
  const config = await textAt(disk, common, "config");
  if (config === undefined) return "it has no settings to be read";
  if ((await kindAt(disk, common, "hooks")) === "folder") {
    // Of all hooks the only one that a question can set off.
    const hook = await kindAt(disk, posix.join(common, "hooks"), "post-index-change");
    if (hook !== undefined) return "it has a hook that runs when git looks at files";
  }
  const tree = depth > 0 ? posix.relative(path, root) : undefined;
  return (
    configRisk(config, tree) ??
    configRisk((await textAt(disk, path, "config.worktree")) ?? "", tree) ??
    riskBelow(disk, root, path, depth)
  );
};

/** Git's own folder of a working tree. Where `.git` is a file, it says where that folder is. */
const gitFolder = async (disk: Disk, root: string): Promise<string | undefined> => {
  const kind = await kindAt(disk, root, ".git");
  if (kind === "folder") return posix.join(root, ".git");
  if (kind !== "file") return undefined;
  const target = /^gitdir: ([^\0\n]+)\n?$/.exec((await textAt(disk, root, ".git")) ?? "")?.[1];
  return target && (await disk.canonical(posix.resolve(root, target)));
};

/** The risk of the repositories inside this one: git asks them too, and each has settings of its own. */
const riskBelow = async (disk: Disk, root: string, path: string, depth: number): Promise<string | undefined> => {
  const index = await bytesAt(disk, path, "index");
  const links = index === undefined ? [] : repositoriesIn(index);
  if (links === undefined) return "the list of its files cannot be read";
  for (const link of links) {
    const inner = await disk.canonical(posix.join(root, link));
    if (inner === undefined || (await kindAt(disk, inner, ".git")) === undefined) continue;
    const risk = inner === posix.join(root, link) ? await riskAt(disk, inner, depth + 1) : "it lies behind a link";
    if (risk !== undefined) return `${link} inside it: ${risk}`;
  }
  return undefined;
};

/** What stands in a folder under a name; undefined where nothing does, or where the folder is none. */
export const kindAt = async (disk: Disk, path: string, name: string): Promise<EntryKind | undefined> => {
  const folder = await disk.open(path);
  try {
    return (await folder.look(name))?.kind;
  } finally {
    await folder.close();
  }
};

const longest = 2 ** 26;

/** The bytes of a regular file; undefined when there is none. */
const bytesAt = async (disk: Disk, path: string, name: string): Promise<Uint8Array | undefined> => {
  const folder = await disk.open(path);
  try {
    const entry = await folder.look(name);
    if (entry === undefined) return undefined;
    if (entry.size > longest) throw new DiskError("EFBIG", `${name} is too long.`);
    const file = await folder.file(name);
    try {
      return await file.read(0, longest);
    } finally {
      await file.close();
    }
  } finally {
    await folder.close();
  }
};

const textAt = async (disk: Disk, path: string, name: string): Promise<string | undefined> => {
  const bytes = await bytesAt(disk, path, name);
  return bytes && new TextDecoder().decode(bytes);
};
