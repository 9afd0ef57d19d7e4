import { basename, dirname } from "node:path";
import { readProjectFile, type ProjectFile } from "../policy/trust/project-settings.ts";
import { isInside } from "../policy/workspace/paths.ts";
import type { Disk } from "../world/disk.ts";

/** Reads files of other agents. Nothing is ever written there. */
export type AgentFiles = {
  /** Reads a small file. A link may lead to another place within `within`, not out of it. */
  readonly read: (path: string, within: string) => Promise<ProjectFile>;
  /** The names in a folder, sorted; none if it does not exist or a link leads out of `within`. */
  readonly list: (path: string, within: string) => Promise<readonly AgentFileEntry[]>;
  readonly exists: (path: string) => Promise<boolean>;
};

type AgentFileEntry = { readonly name: string; readonly kind: string };

const maxEntries = 1000;

/** Opens the files of other agents on a disk. */
export const openAgentFiles = (disk: Disk): AgentFiles => {
  /** The canonical path; undefined if there is none, "" if it is outside. */
  const resolve = async (path: string, within: string): Promise<string | undefined> => {
    const canonical = await disk.canonicalPath(path).catch(() => undefined);
    if (canonical === undefined) return undefined;
    return isInside(canonical, (await disk.canonicalPath(within)) ?? within) ? canonical : "";
  };
  return {
    exists: async (path) => (await disk.canonicalPath(path).catch(() => undefined)) !== undefined,
    read: async (path, within) => {
      const canonical = await resolve(path, within);
      if (canonical === undefined) return undefined;
      if (canonical === "") return { refused: `a link leads out of ${within}` };
      return readProjectFile(disk, dirname(canonical), [basename(canonical)]);
    },
    list: async (path, within) => {
      const canonical = await resolve(path, within);
      if (canonical === undefined || canonical === "") return [];
      const folder = await disk.openFolder(canonical).catch(() => undefined);
      if (folder === undefined) return [];
      try {
        const entries: AgentFileEntry[] = [];
        for await (const { name, kind } of folder.list()) if (entries.length < maxEntries) entries.push({ name, kind });
        return entries.toSorted((one, other) => (one.name < other.name ? -1 : 1));
      } finally {
        await folder.close();
      }
    },
  };
};
