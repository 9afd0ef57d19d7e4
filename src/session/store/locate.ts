import { join } from "node:path";
import type { Disk, EntryKind, Folder } from "../../world/disk.ts";
import { SessionError } from "../error.ts";
import { openFolder, withFolder } from "./folders.ts";
import { projectFolderName } from "./project-folder.ts";

/** The path of a session's project folder, and the session's id. */
export type SessionLocation = { readonly path: string; readonly id: string };

const fileExtension = ".jsonl";

/** Returns the name of a session file. */
export const sessionFileName = (id: string): string => `${id}${fileExtension}`;

/** Which sessions to search: those of one project, or all. */
export type SessionScope = { readonly disk: Disk; readonly base: string; readonly root?: string | undefined };

/** Lists the paths of the project folders in scope. */
export const listProjectFolders = async ({ disk, base, root }: SessionScope): Promise<readonly string[]> => {
  if (root !== undefined) return [join(base, projectFolderName(root))];
  return (await listNamesAt(disk, base, "folder")).map((name) => join(base, name));
};

/** Lists the session ids in a project folder, newest first. */
export const listSessionIds = async (disk: Disk, path: string): Promise<readonly string[]> =>
  (await listNamesAt(disk, path, "file"))
    .flatMap((name) =>
      name.endsWith(fileExtension) && !name.startsWith(".") ? [name.slice(0, -fileExtension.length)] : [],
    )
    .toSorted()
    .toReversed();

/** Finds a session by its id or a unique prefix of it. */
export const findSession = async (scope: SessionScope, prefix: string): Promise<SessionLocation> => {
  const found: SessionLocation[] = [];
  for (const path of prefix === "" ? [] : await listProjectFolders(scope)) {
    // A full id is found without listing the folder.
    if (await hasSessionFile(scope.disk, path, prefix)) return { path, id: prefix };
    for (const id of await listSessionIds(scope.disk, path)) if (id.startsWith(prefix)) found.push({ path, id });
  }
  const [location, ...others] = found;
  if (location === undefined) throw new SessionError({ kind: "not-found", id: prefix });
  if (others.length > 0) {
    const matches = found.slice(0, 5).map(({ id }) => id);
    throw new SessionError({ kind: "ambiguous", id: prefix, matches });
  }
  return location;
};

const hasSessionFile = async (disk: Disk, path: string, id: string): Promise<boolean> => {
  const folder = isPlainName(id) ? await openFolder(disk, path) : undefined;
  return (
    folder !== undefined && withFolder(folder, async (open) => (await open.stat(sessionFileName(id)))?.kind === "file")
  );
};

/** Whether a string is a plain file name; the disk refuses any other. */
const isPlainName = (word: string): boolean => /^[\w-]+$/.test(word);

const listNamesAt = async (disk: Disk, path: string, kind: EntryKind): Promise<readonly string[]> => {
  const folder = await openFolder(disk, path);
  return folder === undefined ? [] : withFolder(folder, (open) => listNames(open, kind));
};

/** Lists the names of one kind in a folder. */
export const listNames = async (folder: Folder, kind: EntryKind): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const item of folder.list()) if (item.kind === kind) names.push(item.name);
  return names;
};
