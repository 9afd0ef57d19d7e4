import { posix } from "node:path";
import { DiskError, type Disk, type EntryKind } from "../world/disk.ts";
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
  // Git takes a folder with a HEAD for a repository once the rest is there, or said to be elsewhere.
  if ((await kindAt(disk, root, "HEAD")) === undefined) return undefined;
  const others = await Promise.all(["objects", "refs", "commondir"].map((name) => kindAt(disk, root, name)));
  const isBare = others.some((other) => other !== undefined);
  return isBare ? { root, risk: `${root} looks like a repository without a working tree` } : undefined;
};

const deepest = 5;

/** The risk of the repository whose working tree this is. `depth` is how many others it lies in. */
const riskAt = async (disk: Disk, root: string, depth: number): Promise<string | undefined> => {
  if (depth > deepest) return "repositories lie too deep inside it";
  const path = await gitFolder(disk, root);
  const common = path && (await commonFolder(disk, path));
  if (path === undefined || common === undefined) return "its .git leads nowhere";
  const config = await textAt(disk, common, "config");
  if (config === undefined) return "it has no settings to be read";
  // Where one of these is missing, git takes it for no repository and goes on looking above.
  const isWhole =
    (await kindAt(disk, path, "HEAD")) === "file" &&
    (await kindAt(disk, common, "objects")) === "folder" &&
    (await kindAt(disk, common, "refs")) === "folder" &&
    isHead((await textAt(disk, path, "HEAD")) ?? "");
  if (!isWhole) return "its .git is not a whole one";
  const hooks = await kindAt(disk, common, "hooks");
  if (hooks !== undefined && hooks !== "folder") return "its hooks lie elsewhere";
  if (hooks === "folder") {
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
  const target = /^gitdir: ([^\n]+)\n?$/.exec((await textAt(disk, root, ".git")) ?? "")?.[1];
  return target && placeNamed(disk, root, target);
};

/** The folder that working trees share; the same one where there is only one. */
const commonFolder = async (disk: Disk, path: string): Promise<string | undefined> => {
  const text = await textAt(disk, path, "commondir");
  if (text === undefined) return path;
  const target = /^([^\n]+)\n?$/.exec(text)?.[1];
  return target && placeNamed(disk, path, target);
};

/**
 * Where a path in one of git's files leads. It must be spelled plainly: git and the system differ from each other in
 * blanks around it, carriage returns, and steps up after a link.
 */
const placeNamed = async (disk: Disk, from: string, target: string): Promise<string | undefined> => {
  const isPlain = /^[^\s\0\ufffd](?:[^\r\t\v\f\0\ufffd]*[^\s\0\ufffd])?$/.test(target);
  const stepsBack = /[^/.][^/]*\/+(?:.*\/)?\.\.(?:\/|$)|\/\.\.\.+|\.\.\.+\//.test(target);
  return isPlain && !stepsBack ? disk.canonical(posix.resolve(from, target)) : undefined;
};

/** A branch, or a commit by its name. */
const isHead = (text: string): boolean => /^(?:ref: refs\/[^\s\0]+|[\da-f]{40}|[\da-f]{64})\n?$/.test(text);

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
