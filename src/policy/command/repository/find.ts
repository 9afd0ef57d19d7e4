import { posix } from "node:path";
import { DiskError, type Disk, type EntryKind } from "../../../world/disk.ts";
import { findConfigRisk } from "./git-config.ts";
import { listNestedRepositories } from "./git-index.ts";

/** What git finds from a folder: the root of a repository, if any, and why its settings could make git run something. */
export type FoundRepository = { readonly root: string | undefined; readonly risk: string | undefined };

/** Looks for the repository around a canonical folder as git does, without running git. */
export const findRepository = async (disk: Disk, folder: string): Promise<FoundRepository> => {
  for (let at = folder; ; at = posix.dirname(at)) {
    try {
      const found = await readRepository(disk, at);
      if (found !== undefined) return found;
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      return { root: at, risk: `${at} cannot be looked into` };
    }
    if (at === "/") return { root: undefined, risk: undefined };
  }
};

const readRepository = async (disk: Disk, root: string): Promise<FoundRepository | undefined> => {
  const kind = await readEntryKind(disk, root, ".git");
  if (kind !== undefined) return { root, risk: await findRisk(disk, root, 0) };
  // Git takes a folder with a HEAD for a repository once the rest is there, or said to be elsewhere.
  if ((await readEntryKind(disk, root, "HEAD")) === undefined) return undefined;
  const others = await Promise.all(["objects", "refs", "commondir"].map((name) => readEntryKind(disk, root, name)));
  const isBare = others.some((other) => other !== undefined);
  return isBare ? { root, risk: `${root} looks like a repository without a working tree` } : undefined;
};

const maxDepth = 5;

/** The risk of the repository whose working tree this is. `depth` is how many others it lies in. */
const findRisk = async (disk: Disk, root: string, depth: number): Promise<string | undefined> => {
  if (depth > maxDepth) return "repositories lie too deep inside it";
  const path = await findGitFolder(disk, root);
  const common = path && (await findCommonFolder(disk, path));
  if (path === undefined || common === undefined) return "its .git leads nowhere";
  const config = await readFileText(disk, common, "config");
  if (config === undefined) return "it has no settings to be read";
  // Where one of these is missing, git takes it for no repository and goes on looking above.
  const isWhole =
    (await readEntryKind(disk, path, "HEAD")) === "file" &&
    (await readEntryKind(disk, common, "objects")) === "folder" &&
    (await readEntryKind(disk, common, "refs")) === "folder" &&
    isHeadText((await readFileText(disk, path, "HEAD")) ?? "");
  if (!isWhole) return "its .git is not a whole one";
  const hooks = await readEntryKind(disk, common, "hooks");
  if (hooks !== undefined && hooks !== "folder") return "its hooks lie elsewhere";
  if (hooks === "folder") {
    // Of all hooks the only one that a question can set off.
    const hook = await readEntryKind(disk, posix.join(common, "hooks"), "post-index-change");
    if (hook !== undefined) return "it has a hook that runs when git looks at files";
  }
  const tree = depth > 0 ? posix.relative(path, root) : undefined;
  return (
    findConfigRisk(config, tree) ??
    findConfigRisk((await readFileText(disk, path, "config.worktree")) ?? "", tree) ??
    findNestedRisk(disk, root, path, depth)
  );
};

/** Git's own folder of a working tree. Where `.git` is a file, it says where that folder is. */
const findGitFolder = async (disk: Disk, root: string): Promise<string | undefined> => {
  const kind = await readEntryKind(disk, root, ".git");
  if (kind === "folder") return posix.join(root, ".git");
  if (kind !== "file") return undefined;
  const target = /^gitdir: ([^\n]+)\n?$/.exec((await readFileText(disk, root, ".git")) ?? "")?.[1];
  return target && resolveGitPath(disk, root, target);
};

/** The folder that working trees share; the same one where there is only one. */
const findCommonFolder = async (disk: Disk, path: string): Promise<string | undefined> => {
  const text = await readFileText(disk, path, "commondir");
  if (text === undefined) return path;
  const target = /^([^\n]+)\n?$/.exec(text)?.[1];
  return target && resolveGitPath(disk, path, target);
};

/**
 * Where a path in one of git's files leads. It must be spelled plainly: git and the system differ from each other in
 * blanks around it, carriage returns, and steps up after a link.
 */
const resolveGitPath = async (disk: Disk, from: string, target: string): Promise<string | undefined> => {
  const isPlain = /^[^\s\0\ufffd](?:[^\r\t\v\f\0\ufffd]*[^\s\0\ufffd])?$/.test(target);
  const stepsBack = /[^/.][^/]*\/+(?:.*\/)?\.\.(?:\/|$)|\/\.\.\.+|\.\.\.+\//.test(target);
  return isPlain && !stepsBack ? disk.canonicalPath(posix.resolve(from, target)) : undefined;
};

/** A branch, or a commit by its name. */
const isHeadText = (text: string): boolean => /^(?:ref: refs\/[^\s\0]+|[\da-f]{40}|[\da-f]{64})\n?$/.test(text);

/** The risk of the repositories inside this one: git asks them too, and each has settings of its own. */
const findNestedRisk = async (disk: Disk, root: string, path: string, depth: number): Promise<string | undefined> => {
  const index = await readFileBytes(disk, path, "index");
  const links = index === undefined ? [] : listNestedRepositories(index);
  if (links === undefined) return "the list of its files cannot be read";
  for (const link of links) {
    const inner = await disk.canonicalPath(posix.join(root, link));
    if (inner === undefined || (await readEntryKind(disk, inner, ".git")) === undefined) continue;
    const risk = inner === posix.join(root, link) ? await findRisk(disk, inner, depth + 1) : "it lies behind a link";
    if (risk !== undefined) return `${link} inside it: ${risk}`;
  }
  return undefined;
};

/** What stands in a folder under a name; undefined where nothing does, or where the folder is none. */
export const readEntryKind = async (disk: Disk, path: string, name: string): Promise<EntryKind | undefined> => {
  const folder = await disk.openFolder(path);
  try {
    return (await folder.stat(name))?.kind;
  } finally {
    await folder.close();
  }
};

const maxBytes = 2 ** 26;

/** The bytes of a regular file; undefined when there is none. */
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
