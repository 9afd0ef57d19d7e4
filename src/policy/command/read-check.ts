import type { IgnoreFilter } from "../../tools/capabilities.ts";
import { posix } from "node:path";
import { PolicyError } from "../error.ts";
import { dependencyFolders } from "../workspace/protected-names.ts";
import { isInsideIgnoringCase } from "../workspace/protected-paths.ts";
import { agentIgnoreNames, type Workspace } from "../workspace/open.ts";

/**
 * How a command reads an operand that is a folder. unknown: not known; a rule decides. names: only the names in it.
 * contents: every file below it, links not followed. entries: the files in it, links followed.
 */
export type FolderReading = "unknown" | "names" | "contents" | "entries";

/** The part of a workspace that decides which files may be read. */
export type ReadableFiles = Pick<Workspace, "resolve" | "list" | "ignored" | "ignoring" | "ignoreFiles" | "hidesFiles">;

/**
 * Creates the check whether a command may read an absolute path without approval, by the same walk the file tools
 * use. Returns why not: it is outside the workspace, in the agent's own folder, or hidden by an ignore file.
 * `ownFolders` are the agent's own.
 */
export const createReadCheck =
  (files: ReadableFiles, ownFolders: readonly string[]) =>
  async (path: string, folderReading: FolderReading): Promise<string | undefined> => {
    try {
      const { kind, path: canonicalPath } = await files.resolve(path);
      if (kind === "folder" && folderReading === "unknown") return undefined;
      const ignoreFile = await files.ignored(path, agentIgnoreFiles);
      if (ignoreFile !== undefined) return `${path} is excluded from models by ${ignoreFile}`;
      if (kind !== "folder" || folderReading === "names") return undefined;
      return folderReading === "entries"
        ? await checkEntries(files, canonicalPath)
        : await checkTree(files, canonicalPath, ownFolders);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      const isMissing = error.type === "file_not_found" || error.type === "path_is_not_a_directory";
      return isMissing ? undefined : error.message.replace(/\.$/, "");
    }
  };

const agentIgnoreFiles: IgnoreFilter = { git: false, own: true };

/** The largest number of entries that are checked; a larger folder needs approval. */
const maxEntries = 5000;

/** Checks the entries of a folder, links followed. */
const checkEntries = async (files: ReadableFiles, folder: string): Promise<string | undefined> => {
  const entries = await files.list(folder, maxEntries + 1);
  if (entries.length > maxEntries) return `${folder} has too many files to check`;
  for (const { name, kind } of entries) {
    const path = posix.join(folder, name);
    if (kind === "link") await files.resolve(path);
    const ignoreFile = await files.ignored(path, agentIgnoreFiles);
    if (ignoreFile !== undefined) return `${path} is excluded from models by ${ignoreFile}`;
  }
  return undefined;
};

/** Whether a folder below has an ignore file for agents. Dependencies and very large trees are not searched for them. */
const hasNestedIgnoreFile = async (files: ReadableFiles, folder: string): Promise<boolean> => {
  const pending = [folder];
  let count = 0;
  for (let at = pending.pop(); at !== undefined && count <= maxEntries; at = pending.pop()) {
    const entries = await files.list(at, maxEntries + 1 - count);
    count += entries.length;
    if (entries.some(({ name }) => agentIgnoreNames.has(name))) return true;
    for (const { name, kind } of entries)
      if (kind === "folder" && name !== ".git" && !dependencyFolders.has(name)) pending.push(posix.join(at, name));
  }
  return false;
};

/** Checks a whole tree. It is walked only if something in it may be excluded from models. */
const checkTree = async (
  files: ReadableFiles,
  folder: string,
  ownFolders: readonly string[],
): Promise<string | undefined> => {
  const mayHide = files.hidesFiles === true || (await files.ignoreFiles()).length > 0;
  const holdsOwn = ownFolders.some((path) => isInsideIgnoringCase(path, folder));
  if (!holdsOwn && !mayHide && !(await hasNestedIgnoreFile(files, folder))) return undefined;
  const pending = [folder];
  let count = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = await files.list(at, maxEntries + 1 - count);
    const findIgnoreFile = await files.ignoring(at, agentIgnoreFiles);
    if ((count += entries.length) > maxEntries) return `${folder} has too many files to check`;
    for (const { name, kind } of entries) {
      const ignoreFile = findIgnoreFile(name, kind === "folder");
      if (ignoreFile !== undefined) return `${posix.join(at, name)} is excluded from models by ${ignoreFile}`;
      if (kind === "folder") pending.push(posix.join(at, name));
    }
  }
  return undefined;
};
