import { posix } from "node:path";
import { DiskError, type Disk, type EntryKind } from "../../../world/disk.ts";
import { findConfigRisk } from "./git-config.ts";
import { listNestedRepositories } from "./git-index.ts";

/** The repository git finds from a folder: its root, if any, and why its configuration could make git run a program. */
export type FoundRepository = { readonly root: string | undefined; readonly risk: string | undefined };

/** Finds the repository of a canonical folder as git does, without running git. */
export const findRepository = async (disk: Disk, folder: string): Promise<FoundRepository> => {
  for (let at = folder; ; at = posix.dirname(at)) {
    try {
      const found = await readRepository(disk, at);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return { root: at, risk: `${at} cannot be read` };
    }
    if (at === "/") return { root: undefined, risk: undefined };
  }
};

const readRepository = async (disk: Disk, root: string): Promise<FoundRepository | undefined> => {
  const kind = await readEntryKind(disk, root, ".git");
  if (kind !== undefined) return { root, risk: await findRisk(disk, root, 0) };
  // Git treats a folder with a HEAD as a repository once the rest is there, or `commondir` names it.
  if ((await readEntryKind(disk, root, "HEAD")) === undefined) return undefined;
  const others = await Promise.all(["objects", "refs", "commondir"].map((name) => readEntryKind(disk, root, name)));
  const isBare = others.some((other) => other !== undefined);
  return isBare ? { root, risk: `${root} looks like a bare repository` } : undefined;
};

const maxDepth = 5;

/** Finds the risk of the repository with this working tree. `depth` is how many repositories it is nested in. */
const findRisk = async (disk: Disk, root: string, depth: number): Promise<string | undefined> => {
  if (depth > maxDepth) return "nested repositories are too deep";
  const path = await findGitFolder(disk, root);
  const common = path && (await findCommonFolder(disk, path));
  if (path === undefined || common === undefined) return "its .git leads nowhere";
  const config = await readFileText(disk, common, "config");
  if (config === undefined) return "its configuration cannot be read";
  // If one of these is missing, git does not treat it as a repository and continues in the parent folder.
  const isWhole =
    (await readEntryKind(disk, path, "HEAD")) === "file" &&
    (await readEntryKind(disk, common, "objects")) === "folder" &&
    (await readEntryKind(disk, common, "refs")) === "folder" &&
    isHeadText((await readFileText(disk, path, "HEAD")) ?? "");
  if (!isWhole) return "its .git is incomplete";
  const hooks = await readEntryKind(disk, common, "hooks");
  if (hooks !== undefined && hooks !== "folder") return "its hooks folder is not a folder";
  if (hooks === "folder") {
    // The only hook that a read-only git command can trigger.
    const hook = await readEntryKind(disk, posix.join(common, "hooks"), "post-index-change");
    if (hook !== undefined) return "it has a post-index-change hook";
  }
  const tree = depth > 0 ? posix.relative(path, root) : undefined;
  return (
    findConfigRisk(config, tree) ??
    findConfigRisk((await readFileText(disk, path, "config.worktree")) ?? "", tree) ??
    findNestedRisk(disk, root, path, depth)
  );
};

/** Finds the git folder of a working tree. If `.git` is a file, it names that folder. */
const findGitFolder = async (disk: Disk, root: string): Promise<string | undefined> => {
  const kind = await readEntryKind(disk, root, ".git");
  if (kind === "folder") return posix.join(root, ".git");
  if (kind !== "file") return undefined;
  const target = /^gitdir: ([^\n]+)\n?$/.exec((await readFileText(disk, root, ".git")) ?? "")?.[1];
  return target && resolveGitPath(disk, root, target);
};

/** Finds the folder that several working trees share; the same folder if there is only one. */
const findCommonFolder = async (disk: Disk, path: string): Promise<string | undefined> => {
  const text = await readFileText(disk, path, "commondir");
  if (text === undefined) return path;
  const target = /^([^\n]+)\n?$/.exec(text)?.[1];
  return target && resolveGitPath(disk, path, target);
};

/**
 * Resolves a path from one of git's files. It must be spelled plainly: git and the operating system differ about
 * blanks around it, carriage returns, and ".." after a link.
 */
const resolveGitPath = async (disk: Disk, from: string, target: string): Promise<string | undefined> => {
  const isPlain = /^[^\s\0\ufffd](?:[^\r\t\v\f\0\ufffd]*[^\s\0\ufffd])?$/.test(target);
  const stepsBack = /[^/.][^/]*\/+(?:.*\/)?\.\.(?:\/|$)|\/\.\.\.+|\.\.\.+\//.test(target);
  return isPlain && !stepsBack ? disk.canonicalPath(posix.resolve(from, target)) : undefined;
};

/** Whether a text is a valid HEAD: a branch, or a commit hash. */
const isHeadText = (text: string): boolean => /^(?:ref: refs\/[^\s\0]+|[\da-f]{40}|[\da-f]{64})\n?$/.test(text);

/** Finds the risk of nested repositories: git queries them too, and each has its own configuration. */
const findNestedRisk = async (disk: Disk, root: string, path: string, depth: number): Promise<string | undefined> => {
  const index = await readFileBytes(disk, path, "index");
  const links = index === undefined ? [] : listNestedRepositories(index);
  if (links === undefined) return "its index cannot be parsed";
  for (const link of links) {
    const inner = await disk.canonicalPath(posix.join(root, link));
    if (inner === undefined || (await readEntryKind(disk, inner, ".git")) === undefined) continue;
    const risk = inner === posix.join(root, link) ? await findRisk(disk, inner, depth + 1) : "it is behind a link";
    if (risk !== undefined) return `nested repository ${link}: ${risk}`;
  }
  return undefined;
};

/** Reads the kind of an entry in a folder; undefined if there is none. */
export const readEntryKind = async (disk: Disk, path: string, name: string): Promise<EntryKind | undefined> => {
  const folder = await disk.openFolder(path);
  try {
    return (await folder.stat(name))?.kind;
  } finally {
    await folder.close();
  }
};

const maxBytes = 2 ** 26;

/** Reads a regular file; undefined if it does not exist. */
const readFileBytes = async (disk: Disk, path: string, name: string): Promise<Uint8Array | undefined> => {
  const folder = await disk.openFolder(path);
  try {
    const entry = await folder.stat(name);
    if (entry === undefined) return undefined;
    if (entry.size > maxBytes) throw new DiskError("EFBIG", `${name} is too long.`);
    const file = await folder.openFile(name);
    try {
      return await file.read(0, maxBytes);
    } finally {
      await file.close();
    }
  } finally {
    await folder.close();
  }
};

const readFileText = async (disk: Disk, path: string, name: string): Promise<string | undefined> => {
  const bytes = await readFileBytes(disk, path, name);
  return bytes && new TextDecoder().decode(bytes);
};
