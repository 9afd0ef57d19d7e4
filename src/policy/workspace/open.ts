import type { DirectoryEntry, IgnoreFilter, OpenedFile, ResolvedPath } from "../../tools/capabilities.ts";
import { join } from "node:path";
import { DiskError, type Disk } from "../../world/disk.ts";
import { listHomeFolders, type HomeOption } from "../../world/home-folders.ts";
import { PolicyError } from "../error.ts";
import { openIgnoreFiles, type IgnoreTest, type RootedPath } from "./ignore.ts";
import { isInside, splitPath, parsePath, quotePath } from "./paths.ts";
import { isInsideIgnoringCase } from "./protected-paths.ts";
import { explainDiskError } from "./disk-errors.ts";
import { openWithBuffer, readBufferBytes, writeBuffer, type EditorBuffers } from "./editor-buffers.ts";
import { readBytesAt, listFolderAt, openFileAt, describePath } from "./read.ts";
import { openScratchFolder, canonicalizePath, type ScratchFolder } from "./scratch.ts";
import { walkedNames, walkedPath, releaseWalk, walkPath, type WorkspaceRoot, type WalkResult } from "./walk.ts";
import { writeFileAt } from "./write.ts";

export type WorkspaceOptions = {
  readonly disk: Disk;
  /** Folders as the user gave them. Relative paths start at the first. */
  readonly roots: readonly string[];
  /** The agent's own folders: neither read nor written through a workspace. */
  readonly home: HomeOption;
  /** Paths with the user's keys, which are not part of any root: neither read nor written, unless one is a root itself. */
  readonly secrets?: readonly string[];
  /** The folder `keep` stores texts in. It is readable, even inside `home`, but not writable. It is created when first needed. */
  readonly scratch: string;
  /** The id of the session: its texts are in a folder of that name in `scratch`, and are removed with the session. */
  readonly session?: string;
  /** The open files of an editor: their text counts, and files in the roots are written through it. */
  readonly buffers?: EditorBuffers;
  /** More folders that are readable but not writable, even inside `home` or `secrets`: those of skills. Missing ones are left out. */
  readonly readable?: readonly string[];
  /** The names of ignore files for agents. */
  readonly ignoreFiles?: readonly string[];
  /** Patterns of files that the user's deny rules hide from models, as in an ignore file. */
  readonly hidden?: readonly string[];
};

/**
 * The files of a workspace. Paths are absolute, or relative to the first root. A path that leads outside the roots
 * throws a `PolicyError` at the moment of use: no link and no concurrent swap can change where a path leads.
 */
export type Workspace = {
  /** The canonical paths of the roots. */
  readonly roots: readonly string[];
  /** Resolves a path, all links followed. */
  readonly resolve: (path: string) => Promise<ResolvedPath>;
  /** Opens a regular file for reading. */
  readonly open: (path: string) => Promise<OpenedFile>;
  /** Reads a whole file of at most `most` bytes. */
  readonly bytes: (path: string, maxCount: number) => Promise<Uint8Array>;
  /** Lists a folder, sorted by name; the first `most` entries. */
  readonly list: (path: string, maxCount?: number) => Promise<readonly DirectoryEntry[]>;
  /** The ignore file that excludes this path or its target; undefined if none does. */
  readonly ignored: (path: string, rules: IgnoreFilter) => Promise<string | undefined>;
  /** The same for all entries of a folder, each by its own name. */
  readonly ignoring: (folder: string, rules: IgnoreFilter) => Promise<IgnoreTest>;
  /** Lists the existing ignore files for agents in the roots. */
  readonly ignoreFiles: () => Promise<readonly string[]>;
  /** Whether deny rules hide files besides those of the ignore files. */
  readonly hidesFiles?: boolean;
  /**
   * Writes a whole file, and creates missing folders. `was` is the identity it must still have, or "absent". A new
   * file has no identity to check, so it is created only if its path contains no link.
   */
  readonly write: (path: string, bytes: Uint8Array, was: string) => Promise<void>;
  /** Stores a text in a file that can be read here, and returns its path. */
  readonly keep: (text: string, name: string) => Promise<string>;
  /** Closes the handles of the roots. */
  readonly close: () => Promise<void>;
};

/** Opens a workspace. Its roots are the folders that exist now, even if their paths lead elsewhere later. */
export const openWorkspace = async (options: WorkspaceOptions): Promise<Workspace> => {
  const { ignoreFiles = agentIgnoreFiles, buffers } = options;
  const state = await openWorkspaceState(options);
  const { roots, all, ownFolders, scratch } = state;
  const ignores = openIgnoreFiles({ roots: all, own: ignoreFiles, hidden: options.hidden ?? [] });
  const protectionContext = { roots: roots.flatMap(({ path, requestedPath }) => [path, requestedPath]), ownFolders };
  const read = <Result>(path: string, work: PathOperation<Result>): Promise<Result> =>
    withPath(state, { path, operation: "read" }, work);

  return {
    roots: roots.map(({ path }) => path),
    resolve: (path) => read(path, async (walk) => describePath(walk, walk.entry)),
    open: (path) =>
      read(path, async (walk) => {
        const file = await openFileAt(walk);
        return buffers === undefined || !roots.includes(walk.root) ? file : openWithBuffer(file, buffers);
      }),
    bytes: (path, maxCount) =>
      read(path, async (walk) => {
        const bytes = await readBytesAt(walk, maxCount);
        if (buffers === undefined || !roots.includes(walk.root)) return bytes;
        return (await readBufferBytes(walkedPath(walk), buffers, maxCount)) ?? bytes;
      }),
    list: (path, maxCount = Infinity) => read(path, (walk) => listFolderAt(walk, maxCount)),
    ignored: (path, rules) =>
      read(path, async (walk, requestedPath) => {
        const isFolder = walk.entry?.kind === "folder";
        const real = { root: walk.root, names: walkedNames(walk) };
        for (const candidate of [
          real,
          ...findSpelledPaths(roots, requestedPath).filter((spelledPath) => !isSamePath(spelledPath, real)),
        ]) {
          const ignoreFile = await ignores.findIgnoreFile({ ...candidate, isFolder }, rules);
          if (ignoreFile !== undefined) return ignoreFile;
        }
        return undefined;
      }),
    ignoring: (path, rules) =>
      read(path, async (walk) => {
        const ignoreFile = await ignores.openFolder({ root: walk.root, names: walkedNames(walk) }, rules);
        return excludeSecretPaths(
          state.secrets,
          walkedPath(walk),
          excludeOwnFolders(ownFolders, walkedPath(walk), ignoreFile),
        );
      }),
    ignoreFiles: () => listExistingFiles(roots, ignoreFiles),
    hidesFiles: (options.hidden ?? []).length > 0,
    write: (path, bytes, expectedIdentity) =>
      withPath(state, { path, operation: "write" }, async (walk, requestedPath) => {
        if (!roots.includes(walk.root))
          throw new PolicyError("path_not_in_workspace", `${quotePath(path)} is read-only.`);
        const real = { root: walk.root, names: walkedNames(walk) };
        const isDirect = findSpelledPaths(roots, requestedPath).some((spelledPath) => isSamePath(spelledPath, real));
        await writeFileAt(walk, {
          requestedPath,
          isDirect,
          bytes,
          expectedIdentity,
          protectionContext,
          ...(buffers === undefined || !isDirect
            ? {}
            : { writeInEditor: (target: string) => writeBuffer(target, bytes, buffers) }),
        });
      }),
    keep: (text, name) =>
      withExplainedErrors({ path: scratch.path, operation: "write" }, () => scratch.keep(text, name)),
    close: async () => {
      await Promise.all([...roots, ...state.readable].map(({ folder }) => folder.close()));
      await scratch.close();
    },
  };
};

/** The open handles and settings of a workspace. */
type WorkspaceState = {
  readonly first: WorkspaceRoot;
  readonly roots: readonly WorkspaceRoot[];
  readonly scratch: ScratchFolder;
  readonly ownFolders: readonly string[];
  readonly secrets: readonly string[];
  /** The roots that are not writable, besides the scratch folder. */
  readonly readable: readonly WorkspaceRoot[];
  /** All readable roots. */
  readonly all: () => readonly WorkspaceRoot[];
};

const openWorkspaceState = async ({ disk, ...given }: WorkspaceOptions): Promise<WorkspaceState> => {
  const ownFolders = await Promise.all(listHomeFolders(given.home).map((path) => canonicalizePath(disk, path)));
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
      (path) => path !== undefined && roots.every((root) => !isInside(root.path, path)) && !ownFolders.includes(path),
    ) as readonly string[];
    const readable = await openReadableFolders(disk, given.readable ?? []);
    return {
      first,
      roots,
      scratch,
      ownFolders,
      secrets,
      readable,
      all: () => [...roots, ...readable, ...scratch.roots()],
    };
  } catch (error) {
    await Promise.all(roots.map(({ folder }) => folder.close()));
    throw error;
  }
};

/** Opens the folders that exist. */
const openReadableFolders = async (disk: Disk, paths: readonly string[]): Promise<readonly WorkspaceRoot[]> => {
  const opened = await Promise.all(paths.map((path) => openRoots(disk, [path]).catch(() => [])));
  return opened.flat().map((root) => ({ ...root, isUnlisted: true }));
};

const openRoots = async (disk: Disk, paths: readonly string[]): Promise<readonly WorkspaceRoot[]> => {
  const opened: WorkspaceRoot[] = [];
  try {
    for (const requestedPath of paths) {
      const path = await disk.canonicalPath(requestedPath);
      if (path === undefined)
        throw new PolicyError("file_not_found", `The folder ${quotePath(requestedPath)} does not exist.`);
      if (opened.some((root) => root.path === path)) continue;
      opened.push({
        path,
        requestedPath,
        spellings: [splitPath(path), splitPath(requestedPath)],
        folder: await disk.openFolder(path),
      });
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ folder }) => folder.close()));
    const failed = paths[opened.length] ?? "";
    if (error instanceof DiskError && error.code === "ENOTDIR")
      throw new PolicyError("path_is_not_a_directory", `${quotePath(failed)} is not a folder.`, { cause: error });
    throw explainDiskError(error, failed, "read");
  }
};

type FileOperation = { readonly path: string; readonly operation: "read" | "write" };
type PathOperation<Result> = (walk: WalkResult, requestedPath: string) => Promise<Result>;

/** Walks to a path, runs the work there, and closes the walk. */
const withPath = <Result>(
  state: WorkspaceState,
  { path, operation }: FileOperation,
  work: PathOperation<Result>,
): Promise<Result> => {
  const { first, all, ownFolders, scratch, readable } = state;
  return withExplainedErrors({ path, operation }, async () => {
    const requestedPath = parsePath(path, first.path);
    const walk = await walkPath(all(), requestedPath);
    try {
      const real = walkedPath(walk);
      if (readable.includes(walk.root)) return await work(walk, requestedPath);
      if (ownFolders.some((folder) => isInsideIgnoringCase(real, folder)) && !isInside(real, scratch.path))
        throw new PolicyError(
          "policy_violation",
          `${quotePath(path)} is in Parley's own folder, which tools cannot access.`,
        );
      if (state.secrets.some((place) => isInsideIgnoringCase(real, place)))
        throw new PolicyError(
          "policy_violation",
          `${quotePath(path)} can contain the user's keys and is not part of the workspace.`,
        );
      return await work(walk, requestedPath);
    } finally {
      await releaseWalk(walk);
    }
  });
};

const withExplainedErrors = async <Result>(
  { path, operation }: FileOperation,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw explainDiskError(error, path, operation);
  }
};

/** Excludes the agent's own folders from a folder that contains one. */
const excludeOwnFolders = (own: readonly string[], folder: string, ignoreFile: IgnoreTest): IgnoreTest =>
  own.some((path) => isInsideIgnoringCase(path, folder))
    ? (name, isFolder) =>
        own.some((path) => isInsideIgnoringCase(join(folder, name), path))
          ? "Parley (its own folder)"
          : ignoreFile(name, isFolder)
    : ignoreFile;

/** Excludes paths with the user's keys. */
const excludeSecretPaths = (secrets: readonly string[], folder: string, ignoreFile: IgnoreTest): IgnoreTest => {
  const inside = secrets.filter((place) => isInsideIgnoringCase(place, folder));
  return inside.length === 0
    ? ignoreFile
    : (name, isFolder) =>
        inside.some((place) => isInsideIgnoringCase(join(folder, name), place))
          ? "Parley (it can contain keys)"
          : ignoreFile(name, isFolder);
};

/** Finds the names of a path in its root as spelled, links not followed. */
const findSpelledPaths = (roots: readonly WorkspaceRoot[], path: string): readonly RootedPath[] => {
  const parts = splitPath(path);
  const found = roots.flatMap((root) =>
    root.spellings
      .filter((spelling) => spelling.every((part, index) => parts[index] === part))
      .map((spelling) => ({ root, names: parts.slice(spelling.length) })),
  );
  return found.slice(0, 1);
};

const isSamePath = (candidate: RootedPath, other: RootedPath): boolean =>
  candidate.root === other.root && candidate.names.join("/") === other.names.join("/");

const listExistingFiles = async (
  roots: readonly WorkspaceRoot[],
  names: readonly string[],
): Promise<readonly string[]> => {
  const found = roots.flatMap(({ path, folder }) =>
    names.map(async (name) => ((await folder.stat(name))?.kind === "file" ? [`${path}/${name}`] : [])),
  );
  return (await Promise.all(found)).flat();
};

/** The ignore files for agents, also those of other agents. A later one can include what an earlier one excludes. */
const agentIgnoreFiles: readonly string[] = [".cursorignore", ".aiexclude", ".geminiignore", ".parleyignore"];

export const agentIgnoreNames: ReadonlySet<string> = new Set(agentIgnoreFiles);
