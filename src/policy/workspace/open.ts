import { join } from "node:path";
import type { Disk } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { openIgnoreFiles, type IgnoreSelection, type IgnoreTest, type RootedPath } from "./ignore.ts";
import { isInside, splitPath, parsePath, quotePath } from "./paths.ts";
import { isInsideIgnoringCase } from "./protected-paths.ts";
import { explainDiskError } from "./disk-errors.ts";
import {
  readBytesAt,
  listFolderAt,
  openFileAt,
  describePath,
  type WorkspaceEntry,
  type WorkspaceFile,
  type WorkspacePath,
} from "./read.ts";
import { openScratchFolder, canonicalizePath, type ScratchFolder } from "./scratch.ts";
import { walkedNames, walkedPath, releaseWalk, walkPath, type WorkspaceRoot, type WalkResult } from "./walk.ts";
import { writeFileAt } from "./write.ts";

export type WorkspaceOptions = {
  readonly disk: Disk;
  /** Folders as the person gave them. Relative paths begin at the first. */
  readonly roots: readonly string[];
  /** The agent's own folder (PARLEY_HOME, or .parley in the person's home): neither read nor written through a workspace. */
  readonly home: string;
  /** Places with keys of the person, which no root includes: neither read nor written, unless one is a root itself. */
  readonly secrets?: readonly string[];
  /** Where `keep` keeps. It can be read, also inside `home`, and not written. It is made when first needed. */
  readonly scratch: string;
  /** The id of the session that keeps texts: they lie in a folder of that name in `scratch`, and are removed with it. */
  readonly session?: string;
  /** The names of ignore files kept for agents, which stand in a root. */
  readonly ignoreFiles?: readonly string[];
};

/**
 * The files of a workspace, guarded. Paths are absolute, or relative to the first root. Whatever leads outside
 * the roots throws a `PolicyError`, at the moment of use: no link and no swap in between can change where a path leads.
 */
export type Workspace = {
  /** Where the roots really are. */
  readonly roots: readonly string[];
  /** Where a path leads, all links followed. */
  readonly resolve: (path: string) => Promise<WorkspacePath>;
  /** Opens a regular file for reading. */
  readonly open: (path: string) => Promise<WorkspaceFile>;
  /** The whole of a file of at most `most` bytes. */
  readonly bytes: (path: string, most: number) => Promise<Uint8Array>;
  /** What is in a folder, by name; the first `most` of it, however much there is. */
  readonly list: (path: string, most?: number) => Promise<readonly WorkspaceEntry[]>;
  /** The ignore file that keeps this path, or what it leads to, out. */
  readonly ignored: (path: string, rules: IgnoreSelection) => Promise<string | undefined>;
  /** The same for everything in a folder at once, each by its own name. */
  readonly ignoring: (folder: string, rules: IgnoreSelection) => Promise<IgnoreTest>;
  /** The ignore files kept for agents that are there. */
  readonly ignoreFiles: () => Promise<readonly string[]>;
  /**
   * Writes a file as a whole, and makes missing folders. `was` is the identity it must still have, or "absent"; what
   * is absent has none, so a new file is made only where no link stands in its path.
   */
  readonly write: (path: string, bytes: Uint8Array, was: string) => Promise<void>;
  /** Keeps a text in a file that can be read here, and tells its path. */
  readonly keep: (text: string, name: string) => Promise<string>;
  /** Lets go of the roots. */
  readonly close: () => Promise<void>;
};

/** Opens a workspace. Its roots are the folders that stand there now, wherever their paths lead later. */
export const openWorkspace = async (options: WorkspaceOptions): Promise<Workspace> => {
  const { ignoreFiles = [".geminiignore", ".parleyignore"] } = options;
  const ground = await openWorkspaceState(options);
  const { roots, all, home, scratch } = ground;
  const ignores = openIgnoreFiles({ roots: all, own: ignoreFiles });
  const protectedFrom = { roots: roots.flatMap(({ path, requestedPath: given }) => [path, given]), home };
  const read = <Result>(path: string, work: PathOperation<Result>): Promise<Result> =>
    withPath(ground, { path, operation: "read" }, work);

  return {
    roots: roots.map(({ path }) => path),
    resolve: (path) => read(path, async (spot) => describePath(spot, spot.entry)),
    open: (path) => read(path, openFileAt),
    bytes: (path, most) => read(path, (spot) => readBytesAt(spot, most)),
    list: (path, most = Infinity) => read(path, (spot) => listFolderAt(spot, most)),
    ignored: (path, rules) =>
      read(path, async (spot, spelled) => {
        const isFolder = spot.entry?.kind === "folder";
        const real = { root: spot.root, names: walkedNames(spot) };
        for (const one of [real, ...findSpelledPaths(roots, spelled).filter((asked) => !isSamePath(asked, real))]) {
          const kept = await ignores.findIgnoreFile({ ...one, isFolder }, rules);
          if (kept !== undefined) return kept;
        }
        return undefined;
      }),
    ignoring: (path, rules) =>
      read(path, async (spot) => {
        const kept = await ignores.openFolder({ root: spot.root, names: walkedNames(spot) }, rules);
        return excludeSecretPaths(ground.secrets, walkedPath(spot), excludeAgentFolder(home, walkedPath(spot), kept));
      }),
    ignoreFiles: () => listExistingFiles(roots, ignoreFiles),
    write: (path, bytes, was) =>
      withPath(ground, { path, operation: "write" }, async (spot, spelled) => {
        if (!roots.includes(spot.root))
          throw new PolicyError("path_not_in_workspace", `${quotePath(path)} can be read, not written.`);
        const real = { root: spot.root, names: walkedNames(spot) };
        const isDirect = findSpelledPaths(roots, spelled).some((asked) => isSamePath(asked, real));
        await writeFileAt(spot, {
          requestedPath: spelled,
          isDirect,
          bytes,
          expectedIdentity: was,
          protectionContext: protectedFrom,
        });
      }),
    keep: (text, name) =>
      withExplainedErrors({ path: scratch.path, operation: "write" }, () => scratch.keep(text, name)),
    close: async () => {
      await Promise.all([...roots.map(({ folder }) => folder.close()), scratch.close()]);
    },
  };
};

/** Everything that is held open. */
type WorkspaceState = {
  readonly first: WorkspaceRoot;
  readonly roots: readonly WorkspaceRoot[];
  readonly scratch: ScratchFolder;
  readonly home: string;
  readonly secrets: readonly string[];
  /** All that may be read. */
  readonly all: () => readonly WorkspaceRoot[];
};

const openWorkspaceState = async ({ disk, ...given }: WorkspaceOptions): Promise<WorkspaceState> => {
  const home = await canonicalizePath(disk, given.home);
  const roots = await openRoots(disk, given.roots);
  try {
    const [first] = roots;
    if (first === undefined) throw new Error("A workspace needs a root.");
    const scratch = await withExplainedErrors({ path: given.scratch, operation: "read" }, () =>
      openScratchFolder(disk, given.scratch, given.session),
    );
    if (roots.some(({ path }) => isInside(path, scratch.path))) throw new Error("The scratch folder holds a root.");
    const places = await Promise.all(
      (given.secrets ?? []).map((path) => disk.canonicalPath(path).catch(() => undefined)),
    );
    const secrets = places.filter(
      (path) => path !== undefined && roots.every((root) => !isInside(root.path, path)) && path !== home,
    ) as readonly string[];
    return { first, roots, scratch, home, secrets, all: () => [...roots, ...scratch.roots()] };
  } catch (error) {
    await Promise.all(roots.map(({ folder }) => folder.close()));
    throw error;
  }
};

const openRoots = async (disk: Disk, paths: readonly string[]): Promise<readonly WorkspaceRoot[]> => {
  const opened: WorkspaceRoot[] = [];
  try {
    for (const given of paths) {
      const path = await disk.canonicalPath(given);
      if (path === undefined) throw new PolicyError("file_not_found", `The folder ${quotePath(given)} is not there.`);
      if (opened.some((root) => root.path === path)) continue;
      opened.push({
        path,
        requestedPath: given,
        spellings: [splitPath(path), splitPath(given)],
        folder: await disk.openFolder(path),
      });
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ folder }) => folder.close()));
    throw explainDiskError(error, paths[opened.length] ?? "", "read");
  }
};

type FileOperation = { readonly path: string; readonly operation: "read" | "write" };
type PathOperation<Result> = (spot: WalkResult, spelled: string) => Promise<Result>;

/** Works at the spot a path leads to, and lets go of it. */
const withPath = <Result>(
  ground: WorkspaceState,
  { path, operation: doing }: FileOperation,
  work: PathOperation<Result>,
): Promise<Result> => {
  const { first, all, home, scratch } = ground;
  return withExplainedErrors({ path, operation: doing }, async () => {
    const spelled = parsePath(path, first.path);
    const spot = await walkPath(all(), spelled);
    try {
      const real = walkedPath(spot);
      if (isInsideIgnoringCase(real, home) && !isInside(real, scratch.path))
        throw new PolicyError("policy_violation", `${quotePath(path)} belongs to the agent itself.`);
      if (ground.secrets.some((place) => isInsideIgnoringCase(real, place)))
        throw new PolicyError(
          "policy_violation",
          `${quotePath(path)} can hold keys of the person, and is no part of the workspace.`,
        );
      return await work(spot, spelled);
    } finally {
      await releaseWalk(spot);
    }
  });
};

const withExplainedErrors = async <Result>(
  { path, operation: doing }: FileOperation,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw explainDiskError(error, path, doing);
  }
};

/** Where the agent's own folder lies in a folder, nothing of it is found there. */
const excludeAgentFolder = (home: string, folder: string, kept: IgnoreTest): IgnoreTest =>
  isInsideIgnoringCase(home, folder)
    ? (name, isFolder) => (isInsideIgnoringCase(join(folder, name), home) ? "the agent itself" : kept(name, isFolder))
    : kept;

/** The same for places with keys of the person. */
const excludeSecretPaths = (secrets: readonly string[], folder: string, kept: IgnoreTest): IgnoreTest => {
  const inside = secrets.filter((place) => isInsideIgnoringCase(place, folder));
  return inside.length === 0
    ? kept
    : (name, isFolder) =>
        inside.some((place) => isInsideIgnoringCase(join(folder, name), place))
          ? "keys of the person"
          : kept(name, isFolder);
};

/** The names a path has in its root as it was spelled, links and all. */
const findSpelledPaths = (roots: readonly WorkspaceRoot[], path: string): readonly RootedPath[] => {
  const parts = splitPath(path);
  const found = roots.flatMap((root) =>
    root.spellings
      .filter((spelling) => spelling.every((part, index) => parts[index] === part))
      .map((spelling) => ({ root, names: parts.slice(spelling.length) })),
  );
  return found.slice(0, 1);
};

const isSamePath = (one: RootedPath, other: RootedPath): boolean =>
  one.root === other.root && one.names.join("/") === other.names.join("/");

const listExistingFiles = async (
  roots: readonly WorkspaceRoot[],
  names: readonly string[],
): Promise<readonly string[]> => {
  const found = roots.flatMap(({ path, folder }) =>
    names.map(async (name) => ((await folder.stat(name))?.kind === "file" ? [`${path}/${name}`] : [])),
  );
  return (await Promise.all(found)).flat();
};
