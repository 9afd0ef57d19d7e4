import { basename, dirname, join } from "node:path";
import type { Disk, EntryKind } from "../../../world/disk.ts";
import { findConfigRisk } from "../../command/repository/git-config.ts";
import { isInside } from "../../workspace/paths.ts";
import { dependencyFolders, versionControlFolders } from "../../workspace/protected-names.ts";
import type { Protection } from "../../workspace/protected-paths.ts";

/** What of a workspace a sandboxed command must not change. */
export type WorkspaceGuard = {
  /** Existing files and folders to mount read-only. */
  readonly readOnly: readonly string[];
  /** Repositories: mounted over themselves, so that a command cannot rename them and put another in their place. */
  readonly repositories: readonly string[];
  /** Whether the workspace had more folders than are searched. */
  readonly isPartial: boolean;
  /** Renames every guarded name that appeared since, so that it has no effect. Run it once the command has ended. */
  readonly quarantine: () => Promise<readonly QuarantinedPath[]>;
};

/** A guarded name that a command created, and the name it has now. */
export type QuarantinedPath = { readonly path: string; readonly newPath: string; readonly reason: string };

type WorkspaceGuardOptions = {
  readonly disk: Disk;
  /** Canonical paths. */
  readonly roots: readonly string[];
  readonly protection: (path: string) => Protection;
  /** Folders that are not searched: the agent's own. */
  readonly except: readonly string[];
};

type GuardedPath = { readonly path: string; readonly kind: EntryKind; readonly reason: string };

/** Folders searched in one workspace; outer ones first. A larger workspace is guarded in part, and that is said. */
const maxFolders = 20_000;

/** Finds every guarded name in the workspace. */
export const guardWorkspace = async (options: WorkspaceGuardOptions): Promise<WorkspaceGuard> => {
  const before = await findGuardedPaths(options);
  const known = new Map<string, string>();
  for (const { path } of before.found) known.set(path, await readIdentity(options.disk, path));
  const links = before.found.filter(({ kind }) => kind === "link");
  const targets = await Promise.all(links.map(({ path }) => options.disk.canonicalPath(path)));
  return {
    readOnly: [
      ...before.found.filter(({ kind }) => kind !== "link").map(({ path }) => path),
      ...targets.filter(
        (path) => path !== undefined && options.roots.some((root) => isInside(path, root) && path !== root),
      ),
    ].filter((path) => path !== undefined),
    repositories: before.repositories,
    isPartial: before.isPartial,
    quarantine: () => quarantineNew(options, known, new Set(links.map(({ path }) => path))),
  };
};

const quarantineNew = async (
  options: WorkspaceGuardOptions,
  known: ReadonlyMap<string, string>,
  links: ReadonlySet<string>,
): Promise<readonly QuarantinedPath[]> => {
  const { disk } = options;
  const identities = new Set(known.values());
  const after = await findGuardedPaths(options);
  const moved: QuarantinedPath[] = [];
  for (const { path, kind, reason } of after.found) {
    // What was there is mounted read-only; only a link can have been replaced.
    if (known.has(path) && !links.has(path)) continue;
    // A guarded file that moved with the folder around it.
    if (identities.has(await readIdentity(disk, path))) continue;
    if (await isPlainRepositoryPart(options, path, kind)) continue;
    const now = await quarantinePath(disk, path);
    if (now !== undefined) moved.push({ path, newPath: now, reason });
  }
  return moved;
};

const readIdentity = async (disk: Disk, path: string): Promise<string> => {
  const folder = await disk.openFolder(dirname(path)).catch(() => undefined);
  try {
    return (await folder?.stat(basename(path)))?.identity ?? "gone";
  } catch {
    return "gone";
  } finally {
    await folder?.close();
  }
};

const quarantineSuffix = ".sandbox-blocked";

const quarantinePath = async (disk: Disk, path: string): Promise<string | undefined> => {
  const folder = await disk.openFolder(dirname(path)).catch(() => undefined);
  if (folder === undefined) return undefined;
  try {
    for (let copy = 1; copy < 100; copy += 1) {
      const name = `${basename(path)}${quarantineSuffix}${copy === 1 ? "" : `-${copy}`}`;
      if ((await folder.stat(name)) !== undefined) continue;
      await folder.rename(basename(path), name);
      return join(dirname(path), name);
    }
    return undefined;
  } finally {
    await folder.close();
  }
};

type GuardSearch = {
  readonly found: readonly GuardedPath[];
  readonly repositories: readonly string[];
  readonly isPartial: boolean;
};

const findGuardedPaths = async ({ disk, roots, protection, except }: WorkspaceGuardOptions): Promise<GuardSearch> => {
  const found: GuardedPath[] = [];
  const repositories: string[] = [];
  const alone = new Map<string, Protection>();
  // Files are judged by their name, once for each name; folders by their path, since some count only inside others.
  const ofFile = (name: string): Protection => {
    const judged = alone.get(name) ?? protection(join("/", "workspace", name));
    alone.set(name, judged);
    return judged;
  };
  const queue = [...roots];
  let index = 0;
  for (; index < queue.length && index < maxFolders; index += 1) {
    const folder = queue[index] ?? "";
    const entries = await disk.listNames(folder).catch(() => []);
    const isGits = isRepository(entries.map(({ name }) => name));
    if (isGits) {
      repositories.push(folder);
      found.push(...(await listRepositoryParts(disk, folder, entries)));
      if (basename(folder) === ".git") continue;
    }
    for (const { name, kind } of entries) {
      // Any folder can be made to look like a repository, so the rest of its names counts as elsewhere.
      if (isGits && repositoryNames.has(name)) continue;
      const path = join(folder, name);
      if (except.some((each) => isInside(path, each))) continue;
      if (kind === "folder" && (dependencyFolders.has(name) || name.endsWith(quarantineSuffix))) continue;
      if (kind === "folder" && name.toLowerCase() === ".git") {
        queue.push(path);
        continue;
      }
      const { level, reason } = kind === "folder" && !versionControlFolders.has(name) ? protection(path) : ofFile(name);
      if (level !== "free") found.push({ path, kind, reason });
      else if (kind === "folder") queue.push(path);
    }
  }
  return { found, repositories, isPartial: index < queue.length };
};

/** What git takes for a repository, whatever its name is. */
const isRepository = (names: readonly string[]): boolean =>
  names.includes("HEAD") && (names.includes("commondir") || (names.includes("objects") && names.includes("refs")));

const repositoryNames: ReadonlySet<string> = new Set(
  "HEAD objects refs logs info branches modules worktrees lfs rr-cache config config.worktree hooks commondir".split(
    " ",
  ),
);

type FolderEntries = readonly { readonly name: string; readonly kind: EntryKind }[];

const gitReason = "Git runs what it says.";

/** The parts of a repository that make git run programs; in submodules and working trees too. */
const listRepositoryParts = async (
  disk: Disk,
  folder: string,
  entries: FolderEntries,
): Promise<readonly GuardedPath[]> => {
  const own = entries
    .filter(({ name }) => ["config", "config.worktree", "hooks", "commondir"].includes(name))
    .map(({ name, kind }) => ({ path: join(folder, name), kind, reason: gitReason }));
  const below = await Promise.all(
    entries
      .filter(({ name, kind }) => kind === "folder" && ["modules", "worktrees"].includes(name))
      .map(({ name }) => listNestedRepositoryParts(disk, join(folder, name), 6)),
  );
  return [...own, ...below.flat()];
};

const listNestedRepositoryParts = async (
  disk: Disk,
  folder: string,
  depth: number,
): Promise<readonly GuardedPath[]> => {
  const entries = await disk.listNames(folder).catch(() => []);
  if (isRepository(entries.map(({ name }) => name))) return listRepositoryParts(disk, folder, entries);
  if (depth === 0) return [];
  const inner = entries.filter(({ kind }) => kind === "folder");
  return (
    await Promise.all(inner.map(({ name }) => listNestedRepositoryParts(disk, join(folder, name), depth - 1)))
  ).flat();
};

/** Whether a new part of a repository is as `git init`, `git clone` and `git worktree add` leave it. */
const isPlainRepositoryPart = async (
  { disk, roots }: WorkspaceGuardOptions,
  path: string,
  kind: EntryKind,
): Promise<boolean> => {
  const name = basename(path);
  if (name === "hooks" && kind === "folder") {
    const hooks = await disk.listNames(path).catch(() => undefined);
    return hooks !== undefined && hooks.every((each) => each.kind === "file" && each.name.endsWith(".sample"));
  }
  if (kind !== "file") return false;
  const text = await readSmallFile(disk, path);
  if (text === undefined) return false;
  if (name === "config" || name === "config.worktree") return findConfigRisk(text) === undefined;
  // The folder of a working tree says where its repository is: two folders up.
  if (name === "commondir") return basename(dirname(dirname(path))) === "worktrees" && text.trim() === "../..";
  if (name !== ".git") return false;
  const target = /^gitdir: (\/[^\r\n]+)\n?$/.exec(text)?.[1];
  const real = target === undefined ? undefined : await disk.canonicalPath(target);
  return (
    real !== undefined &&
    real === target &&
    /\/\.git\/worktrees\/[^/]+$/.test(real) &&
    roots.some((root) => isInside(real, root))
  );
};

const readSmallFile = async (disk: Disk, path: string): Promise<string | undefined> => {
  const folder = await disk.openFolder(dirname(path)).catch(() => undefined);
  try {
    const file = await folder?.openFile(basename(path));
    if (file === undefined) return undefined;
    try {
      const { size } = await file.stat();
      return size > 2 ** 16 ? undefined : Buffer.from(await file.read(0, size)).toString();
    } finally {
      await file.close();
    }
  } catch {
    return undefined;
  } finally {
    await folder?.close();
  }
};
