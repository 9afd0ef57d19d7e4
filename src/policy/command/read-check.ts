import { posix } from "node:path";
import { PolicyError } from "../error.ts";
import type { IgnoreSelection } from "../workspace/ignore.ts";
import { isInsideIgnoringCase } from "../workspace/protected-paths.ts";
import type { Workspace } from "../workspace/open.ts";

/**
 * How a command reads an operand that is a folder. unknown: not at all, or as a rule allows. names: no contents.
 * contents: every file below it, links not followed. entries: the files in it, links followed.
 */
export type FolderReading = "unknown" | "names" | "contents" | "entries";

/** The part of a workspace that tells what may be read. */
export type ReadableFiles = Pick<Workspace, "resolve" | "list" | "ignored" | "ignoring" | "ignoreFiles">;

/**
 * Tells why a command may not read an absolute path unasked, by the same walk the file tools use: it leads out of the
 * workspace, belongs to the agent, or is kept from models. `own` is the agent's own folder.
 */
export const createReadCheck =
  (files: ReadableFiles, own: string) =>
  async (path: string, reading: FolderReading): Promise<string | undefined> => {
    try {
      const { kind, path: real } = await files.resolve(path);
      if (kind === "folder" && reading === "unknown") return undefined;
      const kept = await files.ignored(path, agentIgnoreFiles);
      if (kept !== undefined) return `${path} is kept from models by ${kept}`;
      if (kind !== "folder" || reading === "names") return undefined;
      return reading === "entries" ? await checkEntries(files, real) : await checkTree(files, real, own);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      const isNothing = error.type === "file_not_found" || error.type === "path_is_not_a_directory";
      return isNothing ? undefined : error.message.replace(/\.$/, "");
    }
  };

const agentIgnoreFiles: IgnoreSelection = { git: false, own: true };

/** As many entries as are looked at; a folder with more is asked about. */
const maxEntries = 5000;

/** The fault of what stands in a folder, where links are followed. */
const checkEntries = async (files: ReadableFiles, folder: string): Promise<string | undefined> => {
  const entries = await files.list(folder, maxEntries + 1);
  if (entries.length > maxEntries) return `${folder} holds more than can be checked`;
  for (const { name, kind } of entries) {
    const path = posix.join(folder, name);
    if (kind === "link") await files.resolve(path);
    const kept = await files.ignored(path, agentIgnoreFiles);
    if (kept !== undefined) return `${path} is kept from models by ${kept}`;
  }
  return undefined;
};

/** The fault of a whole tree. It is walked only where something in it may be kept from models. */
const checkTree = async (files: ReadableFiles, folder: string, own: string): Promise<string | undefined> => {
  if (!isInsideIgnoringCase(own, folder) && (await files.ignoreFiles()).length === 0) return undefined;
  const pending = [folder];
  let count = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = await files.list(at, maxEntries + 1 - count);
    const keeps = await files.ignoring(at, agentIgnoreFiles);
    if ((count += entries.length) > maxEntries) return `${folder} holds more than can be checked`;
    for (const { name, kind } of entries) {
      const kept = keeps(name, kind === "folder");
      if (kept !== undefined) return `${posix.join(at, name)} is kept from models by ${kept}`;
      if (kind === "folder") pending.push(posix.join(at, name));
    }
  }
  return undefined;
};
