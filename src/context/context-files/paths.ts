import { toHomeFolders, type HomeOption } from "../../world/home-folders.ts";
import { dirname, join, relative, sep } from "node:path";
import { type Workspace, openWorkspace } from "../../policy/workspace/open.ts";
import { isInside } from "../../policy/workspace/paths.ts";
import type { Disk } from "../../world/disk.ts";
import type { WorkspaceScan } from "../workspace/scan.ts";

/** Lists the folders whose context files apply to a root, from the outermost to the root. */
export const listProjectFoldersUpward = async (
  { disk, isTrusted, person }: UpwardOptions,
  root: string,
): Promise<readonly string[]> => {
  const above = listAncestors(root);
  const git = [root, ...above].findIndex(await findRepositories(disk, [root, ...above]));
  const home = above.indexOf(person);
  const ends = [git === -1 ? undefined : git, home === -1 ? undefined : home + 1].filter((end) => end !== undefined);
  const candidates = above.slice(0, ends.length === 0 ? 0 : Math.min(...ends));
  const trusted = await Promise.all(candidates.map(isTrusted));
  const first = trusted.indexOf(false);
  return [...candidates.slice(0, first === -1 ? undefined : first).toReversed(), root];
};

/** Whether a folder is in a git repository. */
export const isInRepository = async (disk: Disk, folder: string): Promise<boolean> => {
  const all = [folder, ...listAncestors(folder)];
  return all.some(await findRepositories(disk, all));
};

const findRepositories = async (disk: Disk, folders: readonly string[]): Promise<(folder: string) => boolean> => {
  const found = await Promise.all(
    folders.map((folder) => disk.canonicalPath(join(folder, ".git")).catch(() => undefined)),
  );
  return (folder) => found[folders.indexOf(folder)] !== undefined;
};

/** Limits of the search upward. */
export type UpwardOptions = {
  readonly disk: Disk;
  readonly isTrusted: (folder: string) => Promise<boolean>;
  /** The user's home folder. */
  readonly person: string;
};

/** Lists possible paths of context files in folders that were not scanned. */
export const listOuterPaths = (folders: readonly string[], names: readonly string[]): readonly string[] =>
  folders.flatMap((folder) => names.map((name) => join(folder, name)));

/** Lists the paths of context files found below a root. */
export const listInnerPaths = ({ root, folders }: WorkspaceScan, names: readonly string[]): readonly string[] =>
  folders
    .filter(({ path }) => path !== "")
    .flatMap(({ path, files, isVisible: isSeen }) =>
      names.filter((name) => files.includes(name) && isSeen(name)).map((name) => join(root, path, name)),
    );

/** Opens a workspace of the outer folders; undefined if there are none. The caller closes it. */
export const openWiderWorkspace = async (
  { disk, home }: { readonly disk: Disk; readonly home: HomeOption },
  outermost: readonly string[],
  roots: readonly string[],
): Promise<Workspace | undefined> => {
  const wider = outermost.filter((folder) => !roots.includes(folder));
  const scratch = join(toHomeFolders(home).data, "scratch");
  return wider.length === 0 ? undefined : openWorkspace({ disk, roots: wider, home, scratch });
};

/** Formats a path relative to the first root, or with `~` for the user's home folder. */
export const formatLabel = (
  path: string,
  { roots, person }: { readonly roots: readonly string[]; readonly person: string },
): string => {
  const [first = sep] = roots;
  if (isInside(path, first) || isInside(first, dirname(path))) return relative(first, path);
  return isInside(path, person) ? join("~", relative(person, path)) : path;
};

const listAncestors = (folder: string): readonly string[] => {
  const above = dirname(folder);
  return above === folder ? [] : [above, ...listAncestors(above)];
};
