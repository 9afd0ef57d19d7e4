import { posix } from "node:path";
import { PolicyError } from "./error.ts";
import type { IgnoreRules } from "./ignore.ts";
import { isWithin } from "./protected.ts";
import type { Workspace } from "./workspace.ts";

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
export const openReadCheck =
  (files: ReadableFiles, own: string) =>
  async (path: string, reading: FolderReading): Promise<string | undefined> => {
    try {
      const { kind, path: real } = await files.resolve(path);
      if (kind === "folder" && reading === "unknown") return undefined;
      const kept = await files.ignored(path, rules);
      if (kept !== undefined) return `${path} is kept from models by ${kept}`;
      if (kind !== "folder" || reading === "names") return undefined;
      return reading === "entries" ? await entriesFault(files, real) : await treeFault(files, real, own);
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      const isNothing = error.type === "file_not_found" || error.type === "path_is_not_a_directory";
      return isNothing ? undefined : error.message.replace(/\.$/, "");
    }
  };

const rules: IgnoreRules = { git: false, own: true };

/** As many entries as are looked at; a folder with more is asked about. */
const mostEntries = 5000;

/** The fault of what stands in a folder, where links are followed. */
const entriesFault = async (files: ReadableFiles, folder: string): Promise<string | undefined> => {
  const entries = await files.list(folder, mostEntries + 1);
  if (entries.length > mostEntries) return `${folder} holds more than can be checked`;
  for (const { name, kind } of entries) {
    const path = posix.join(folder, name);
    if (kind === "link") await files.resolve(path);
    const kept = await files.ignored(path, rules);
    if (kept !== undefined) return `${path} is kept from models by ${kept}`;
  }
  return undefined;
};

/** The fault of a whole tree. It is walked only where something in it may be kept from models. */
const treeFault = async (files: ReadableFiles, folder: string, own: string): Promise<string | undefined> => {
  if (!isWithin(own, folder) && (await files.ignoreFiles()).length === 0) return undefined;
  const pending = [folder];
  let count = 0;
  for (let at = pending.pop(); at !== undefined; at = pending.pop()) {
    const entries = await files.list(at, mostEntries + 1 - count);
    const keeps = await files.ignoring(at, rules);
    if ((count += entries.length) > mostEntries) return `${folder} holds more than can be checked`;
    for (const { name, kind } of entries) {
      const kept = keeps(name, kind === "folder");
      if (kept !== undefined) return `${posix.join(at, name)} is kept from models by ${kept}`;
      if (kind === "folder") pending.push(posix.join(at, name));
    }
  }
  return undefined;
};
