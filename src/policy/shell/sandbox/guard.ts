import { basename, dirname, join } from "node:path";
import type { Disk, EntryKind } from "../../../world/disk.ts";
import { findConfigRisk } from "../../command/repository/git-config.ts";
import { isInside } from "../../workspace/paths.ts";
import { readRegularFile } from "../../workspace/read-regular-file.ts";
import { dependencyFolders, versionControlFolders } from "../../workspace/protected-names.ts";
import type { Protection } from "../../workspace/protected-paths.ts";

/** The protected paths of a workspace, which a sandboxed command must not change. */
export type WorkspaceGuard = {
  /** Existing files and folders to mount read-only. */
  readonly readOnly: readonly string[];
  /** Repositories: mounted over themselves, so that a command cannot rename and replace them. */
  readonly repositories: readonly string[];
  /** Whether the workspace has more folders than were searched. */
  readonly isPartial: boolean;
  /** Renames every protected path that appeared since, so that it has no effect. Run it once the command has ended. */
  readonly quarantine: () => Promise<readonly QuarantinedPath[]>;
};

/** A protected path that a command created, and the path it was renamed to. */
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

/** Folders searched in one workspace, outer ones first. A larger workspace is protected in part, which is reported. */
const maxFolders = 20_000;

/** Finds every protected path in the workspace. */
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
  const quarantined: QuarantinedPath[] = [];
  for (const { path, kind, reason } of after.found) {
    // Existing paths are mounted read-only; only a link can have been replaced.
    if (known.has(path) && !links.has(path)) continue;
    // A protected file that moved with its folder.
    if (identities.has(await readIdentity(disk, path))) continue;
    if (await isPlainRepositoryPart(options, path, kind)) continue;
    const newPath = await quarantinePath(disk, path);
    if (newPath !== undefined) quarantined.push({ path, newPath, reason });
  }
  return quarantined;
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
  const protectionByName = new Map<string, Protection>();
  // Files are checked by name, once for each name; folders by path, since some are protected only inside others.
  const protectionOfFile = (name: string): Protection => {
    const protectionOfName = protectionByName.get(name) ?? protection(join("/", "workspace", name));
    protectionByName.set(name, protectionOfName);
    return protectionOfName;
  };
  const queue = [...roots];
  let index = 0;
  for (; index < queue.length && index < maxFolders; index += 1) {
    const folder = queue[index] ?? "";
    const entries = await disk.listNames(folder).catch(() => []);
    const isGitFolder = isRepository(entries.map(({ name }) => name));
    if (isGitFolder) {
      repositories.push(folder);
      found.push(...(await listRepositoryParts(disk, folder, entries)));
      if (basename(folder) === ".git") continue;
    }
    for (const { name, kind } of entries) {
      // Any folder can be made to look like a repository, so its other names are checked as usual.
      if (isGitFolder && repositoryNames.has(name)) continue;
      const path = join(folder, name);
      if (except.some((each) => isInside(path, each))) continue;
      if (kind === "folder" && (dependencyFolders.has(name) || name.endsWith(quarantineSuffix))) continue;
      if (kind === "folder" && name.toLowerCase() === ".git") {
        queue.push(path);
        continue;
      }
      const { level, reason } =
        kind === "folder" && !versionControlFolders.has(name) ? protection(path) : protectionOfFile(name);
      if (level !== "free") found.push({ path, kind, reason });
      else if (kind === "folder") queue.push(path);
    }
  }
  return { found, repositories, isPartial: index < queue.length };
};

/** Whether git treats a folder with these names as a repository, whatever its own name is. */
const isRepository = (names: readonly string[]): boolean =>
  names.includes("HEAD") && (names.includes("commondir") || (names.includes("objects") && names.includes("refs")));

const repositoryNames: ReadonlySet<string> = new Set(
  "HEAD objects refs logs info branches modules worktrees lfs rr-cache config config.worktree hooks commondir".split(
    " ",
  ),
);

type FolderEntries = readonly { readonly name: string; readonly kind: EntryKind }[];

/** Files of git that are larger are not as git creates them. */
const maxConfigBytes = 2 ** 16;

const gitReason = "Git runs programs named in it.";

/** Lists the parts of a repository that make git run programs, also in submodules and working trees. */
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

/** Whether a new part of a repository is as `git init`, `git clone` and `git worktree add` create it. */
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
  const bytes = (await readRegularFile(disk, path, maxConfigBytes))?.bytes;
  if (bytes === undefined) return false;
  const text = Buffer.from(bytes).toString();
  if (name === "config" || name === "config.worktree") return findConfigRisk(text) === undefined;
  // The folder of a working tree names its repository: two folders up.
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
