import { join } from "node:path";
import type { Disk, EntryKind, Folder } from "../../world/disk.ts";
import { SessionError } from "../error.ts";
import { openFolder, withFolder } from "./folders.ts";
import { projectFolderName } from "./project-folder.ts";

/** Where a session lies: the path of its project's folder, and its id. */
export type SessionLocation = { readonly path: string; readonly id: string };

const fileExtension = ".jsonl";

/** The name of a session's file. */
export const sessionFileName = (id: string): string => `${id}${fileExtension}`;

/** Where sessions are looked for: those of one project, or all. */
export type SessionScope = { readonly disk: Disk; readonly base: string; readonly root?: string | undefined };

/** The folders of the projects in scope, by path. */
export const listProjectFolders = async ({ disk, base, root }: SessionScope): Promise<readonly string[]> => {
  if (root !== undefined) return [join(base, projectFolderName(root))];
  return (await listNamesAt(disk, base, "folder")).map((name) => join(base, name));
};

/** The ids of the sessions in a project's folder, newest first. */
export const listSessionIds = async (disk: Disk, path: string): Promise<readonly string[]> =>
  (await listNamesAt(disk, path, "file"))
    .flatMap((name) =>
      name.endsWith(fileExtension) && !name.startsWith(".") ? [name.slice(0, -fileExtension.length)] : [],
    )
    .toSorted()
    .toReversed();

/** The one session whose id this is, or begins with this. */
export const findSession = async (scope: SessionScope, prefix: string): Promise<SessionLocation> => {
  const found: SessionLocation[] = [];
  for (const path of prefix === "" ? [] : await listProjectFolders(scope)) {
    // A whole id is found without reading the names of all.
    if (await hasSessionFile(scope.disk, path, prefix)) return { path, id: prefix };
    for (const id of await listSessionIds(scope.disk, path)) if (id.startsWith(prefix)) found.push({ path, id });
  }
  const [place, ...others] = found;
  if (place === undefined) throw new SessionError({ kind: "not-found", id: prefix });
  if (others.length > 0) {
    const matches = found.slice(0, 5).map(({ id }) => id);
    throw new SessionError({ kind: "ambiguous", id: prefix, matches });
  }
  return place;
};

const hasSessionFile = async (disk: Disk, path: string, id: string): Promise<boolean> => {
  const folder = isPlainName(id) ? await openFolder(disk, path) : undefined;
  return (
    folder !== undefined && withFolder(folder, async (open) => (await open.stat(sessionFileName(id)))?.kind === "file")
  );
};

/** Whether a word could be the name of a file; the disk refuses to look for anything else. */
const isPlainName = (word: string): boolean => /^[\w-]+$/.test(word);

const listNamesAt = async (disk: Disk, path: string, kind: EntryKind): Promise<readonly string[]> => {
  const folder = await openFolder(disk, path);
  return folder === undefined ? [] : withFolder(folder, (open) => listNames(open, kind));
};

/** The names in a folder of things of one kind. */
export const listNames = async (folder: Folder, kind: EntryKind): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const item of folder.list()) if (item.kind === kind) names.push(item.name);
  return names;
};
