import { join } from "node:path";
import type { Disk, EntryKind, Folder } from "../world/disk.ts";
import { SessionError } from "./error.ts";
import { folderAt, within } from "./folders.ts";
import { projectName } from "./project.ts";

/** Where a session lies: the path of its project's folder, and its id. */
export type Place = { readonly path: string; readonly id: string };

const ending = ".jsonl";

/** The name of a session's file. */
export const fileName = (id: string): string => `${id}${ending}`;

/** Where sessions are looked for: those of one project, or all. */
export type Scope = { readonly disk: Disk; readonly base: string; readonly root?: string | undefined };

/** The folders of the projects in scope, by path. */
export const projectPaths = async ({ disk, base, root }: Scope): Promise<readonly string[]> => {
  if (root !== undefined) return [join(base, projectName(root))];
  return (await namesIn(disk, base, "folder")).map((name) => join(base, name));
};

/** The ids of the sessions in a project's folder, newest first. */
export const idsIn = async (disk: Disk, path: string): Promise<readonly string[]> =>
  (await namesIn(disk, path, "file"))
    .flatMap((name) => (name.endsWith(ending) && !name.startsWith(".") ? [name.slice(0, -ending.length)] : []))
    .toSorted()
    .toReversed();

/** The one session whose id this is, or begins with this. */
export const findSession = async (scope: Scope, prefix: string): Promise<Place> => {
  const found: Place[] = [];
  for (const path of prefix === "" ? [] : await projectPaths(scope)) {
    // A whole id is found without reading the names of all.
    if (await isIn(scope.disk, path, prefix)) return { path, id: prefix };
    for (const id of await idsIn(scope.disk, path)) if (id.startsWith(prefix)) found.push({ path, id });
  }
  const [place, ...others] = found;
  if (place === undefined) throw new SessionError({ kind: "not-found", id: prefix });
  if (others.length > 0) {
    const matches = found.slice(0, 5).map(({ id }) => id);
    throw new SessionError({ kind: "ambiguous", id: prefix, matches });
  }
  return place;
};

const isIn = async (disk: Disk, path: string, id: string): Promise<boolean> => {
  const folder = isPlain(id) ? await folderAt(disk, path) : undefined;
  return folder !== undefined && within(folder, async (open) => (await open.look(fileName(id)))?.kind === "file");
};

/** Whether a word could be the name of a file; the disk refuses to look for anything else. */
const isPlain = (word: string): boolean => /^[\w-]+$/.test(word);

const namesIn = async (disk: Disk, path: string, kind: EntryKind): Promise<readonly string[]> => {
  const folder = await folderAt(disk, path);
  return folder === undefined ? [] : within(folder, (open) => namesOf(open, kind));
};

/** The names in a folder of things of one kind. */
export const namesOf = async (folder: Folder, kind: EntryKind): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const item of folder.list()) if (item.kind === kind) names.push(item.name);
  return names;
};
