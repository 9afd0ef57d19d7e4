import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureFolder, withFolder } from "../session/store/folders.ts";
import type { World } from "../world/world.ts";
import { openGit, type Git } from "./git.ts";
import { WorkplaceError, type SweptWorkplace, type WorkplaceRequest, type Workplaces } from "./workplace.ts";

/** How the folder of a session begins: empty, as a git worktree of the project, or as a clone of it. */
export type SessionFolderKind = "folder" | "worktree" | "clone";

/** Options of session folders. */
export type SessionFolderOptions = {
  readonly world: World;
  /** The folder that holds them, outside of projects and of Parley's own folders. It must exist. */
  readonly base: string;
  readonly kind: SessionFolderKind;
};

/** Written beside a folder once it is complete. */
type FolderMarker = Pick<WorkplaceRequest, "tenant" | "id" | "project"> & { readonly kind: SessionFolderKind };

/** Gives each session a folder of its own on this machine. With the sandbox, its commands see no other session's. */
export const openSessionFolders = ({ world, base, kind }: SessionFolderOptions): Workplaces => {
  const { disk } = world;
  const git = openGit(world);
  return {
    open: async ({ tenant, id, project }) => {
      const root = await disk.canonicalPath(base);
      if (root === undefined) throw new WorkplaceError(`${base} does not exist. Create the folder for workplaces.`);
      const home = join(root, digestOf(tenant));
      await withFolder(await ensureFolder(disk, home), async () => undefined);
      const [folder, marker, scratch] = [join(home, id), markerPath(home, id), join(home, `${id}.scratch`)];
      const isNew = (await readMarker(world, marker)) === undefined || (await disk.canonicalPath(folder)) === undefined;
      if (isNew) {
        // Left by a worker that ended while it made the folder. No tool has run there.
        await rm(folder, { recursive: true, force: true });
        await createFolder({ world, git }, { kind, project, folder, id });
        const text: FolderMarker = { tenant, id, project, kind };
        await world.files.writePrivate(marker, JSON.stringify(text));
      }
      await withFolder(await ensureFolder(disk, scratch), async () => undefined);
      return { folder, about: abouts[kind](project, id), isNew, hidden: [root], scratch, close: async () => undefined };
    },
    sweep: async (isGone) => {
      const root = await disk.canonicalPath(base);
      const swept: SweptWorkplace[] = [];
      for (const marker of root === undefined ? [] : await listMarkers(world, root)) {
        const { path, tenant, id } = marker;
        if (!(await isGone(tenant, id))) continue;
        const folder = path.slice(0, -markerEnd.length);
        const kept = await describeUnsaved({ world, git }, { ...marker, folder });
        if (kept === undefined) {
          if (marker.kind === "worktree") await git.run(marker.project, ["worktree", "remove", folder]);
          for (const each of [folder, `${folder}.scratch`, path]) await rm(each, { recursive: true, force: true });
        }
        swept.push({ folder, tenant, id, ...(kept === undefined ? {} : { kept }) });
      }
      return swept;
    },
  };
};

type FolderTools = { readonly world: World; readonly git: Git };

const branchOf = (id: string): string => `parley/${id}`;

const abouts: { readonly [kind in SessionFolderKind]: (project: string, id: string) => string } = {
  folder: () => "a folder of its own",
  worktree: (project, id) => `a git worktree of ${project} on branch ${branchOf(id)}`,
  clone: (project, id) => `a git clone of ${project} on branch ${branchOf(id)}`,
};

const createFolder = async (
  { world, git }: FolderTools,
  {
    kind,
    project,
    folder,
    id,
  }: Pick<WorkplaceRequest, "project" | "id"> & {
    readonly kind: SessionFolderKind;
    readonly folder: string;
  },
): Promise<void> => {
  const branch = branchOf(id);
  switch (kind) {
    case "folder":
      return withFolder(await ensureFolder(world.disk, folder), async () => undefined);
    case "worktree": {
      await git.run(project, ["worktree", "prune"]);
      const isKnown = await git.succeeds(project, ["rev-parse", "--verify", "--quiet", `refs/heads/${branch}`]);
      await git.run(project, ["worktree", "add", ...(isKnown ? [folder, branch] : ["-b", branch, folder])]);
      return;
    }
    case "clone": {
      await git.run(project, ["clone", "--no-hardlinks", "--template=", "--", project, folder]);
      const isKnown = await git.succeeds(folder, ["rev-parse", "--verify", "--quiet", `refs/remotes/origin/${branch}`]);
      await git.run(folder, ["checkout", "-B", branch, ...(isKnown ? [`origin/${branch}`] : [])]);
    }
  }
};

/** Describes work in a folder that exists nowhere else; undefined if there is none. */
const describeUnsaved = async (
  { world: { disk }, git }: FolderTools,
  { kind, folder }: { readonly kind: SessionFolderKind; readonly folder: string },
): Promise<string | undefined> => {
  if ((await disk.canonicalPath(folder)) === undefined) return undefined;
  if (kind === "folder") return (await disk.listNames(folder)).length === 0 ? undefined : "it has files";
  try {
    if (await git.isChanged(folder)) return "it has changes without a commit";
    // A worktree shares its project's branches: only commits on none of them would go with it.
    const saved =
      kind === "clone" ? ["--all", "--not", "--remotes"] : ["HEAD", "--not", "--branches", "--remotes", "--tags"];
    const commits = await git.run(folder, ["rev-list", ...saved]);
    if (commits === "") return undefined;
    return kind === "clone" ? "it has commits that were not pushed" : "it has commits on no branch";
  } catch (error) {
    return `git failed: ${error instanceof Error ? error.message : String(error)}`;
  }
};

const markerEnd = ".json";

const markerPath = (home: string, id: string): string => join(home, `${id}${markerEnd}`);

const readMarker = async ({ files }: World, path: string): Promise<FolderMarker | undefined> => {
  const text = await files.read(path);
  if (text === undefined) return undefined;
  const { tenant, id, project, kind } = JSON.parse(text) as Partial<FolderMarker>;
  return tenant === undefined || id === undefined || project === undefined || kind === undefined
    ? undefined
    : { tenant, id, project, kind };
};

const listMarkers = async (
  world: World,
  root: string,
): Promise<readonly (FolderMarker & { readonly path: string })[]> => {
  const found: (FolderMarker & { readonly path: string })[] = [];
  for (const home of await world.disk.listNames(root))
    for (const { name } of home.kind === "folder" ? await world.disk.listNames(join(root, home.name)) : []) {
      const path = join(root, home.name, name);
      const marker = name.endsWith(markerEnd) ? await readMarker(world, path) : undefined;
      if (marker !== undefined) found.push({ ...marker, path });
    }
  return found;
};

const digestOf = (tenant: string): string => createHash("sha256").update(tenant).digest("hex").slice(0, 16);
