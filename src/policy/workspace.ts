import { join } from "node:path";
import type { Disk } from "../world/disk.ts";
import { PolicyError } from "./error.ts";
import { openIgnores, type IgnoreRules, type Judge, type Named } from "./ignore.ts";
import { isInside, partsOf, readPath, shown } from "./paths.ts";
import { isWithin } from "./protected.ts";
import { explained } from "./workspace-errors.ts";
import { bytesAt, listAt, openAt, placeAt, type Listed, type OpenFile, type Place } from "./workspace-read.ts";
import { openScratch, settledPath, type Scratch } from "./workspace-scratch.ts";
import { namesAt, pathOf, release, walk, type Root, type Spot } from "./workspace-walk.ts";
import { writeAt } from "./workspace-write.ts";

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
  readonly resolve: (path: string) => Promise<Place>;
  /** Opens a regular file for reading. */
  readonly open: (path: string) => Promise<OpenFile>;
  /** The whole of a file of at most `most` bytes. */
  readonly bytes: (path: string, most: number) => Promise<Uint8Array>;
  /** What is in a folder, by name; the first `most` of it, however much there is. */
  readonly list: (path: string, most?: number) => Promise<readonly Listed[]>;
  /** The ignore file that keeps this path, or what it leads to, out. */
  readonly ignored: (path: string, rules: IgnoreRules) => Promise<string | undefined>;
  /** The same for everything in a folder at once, each by its own name. */
  readonly ignoring: (folder: string, rules: IgnoreRules) => Promise<Judge>;
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
  const ground = await openGround(options);
  const { roots, all, home, scratch } = ground;
  const ignores = openIgnores({ roots: all, own: ignoreFiles });
  const protectedFrom = { roots: roots.flatMap(({ path, given }) => [path, given]), home };
  const read = <Result>(path: string, work: Work<Result>): Promise<Result> => at(ground, { path, doing: "read" }, work);

  return {
    roots: roots.map(({ path }) => path),
    resolve: (path) => read(path, async (spot) => placeAt(spot, spot.entry)),
    open: (path) => read(path, openAt),
    bytes: (path, most) => read(path, (spot) => bytesAt(spot, most)),
    list: (path, most = Infinity) => read(path, (spot) => listAt(spot, most)),
    ignored: (path, rules) =>
      read(path, async (spot, spelled) => {
        const isFolder = spot.entry?.kind === "folder";
        const real = { root: spot.root, names: namesAt(spot) };
        for (const one of [real, ...spelledIn(roots, spelled).filter((asked) => !isSame(asked, real))]) {
          const kept = await ignores.keeps({ ...one, isFolder }, rules);
          if (kept !== undefined) return kept;
        }
        return undefined;
      }),
    ignoring: (path, rules) =>
      read(path, async (spot) => {
        const kept = await ignores.keepsIn({ root: spot.root, names: namesAt(spot) }, rules);
        return exceptSecrets(ground.secrets, pathOf(spot), exceptOwn(home, pathOf(spot), kept));
      }),
    ignoreFiles: () => filesIn(roots, ignoreFiles),
    write: (path, bytes, was) =>
      at(ground, { path, doing: "write" }, async (spot, spelled) => {
        if (!roots.includes(spot.root))
          throw new PolicyError("path_not_in_workspace", `${shown(path)} can be read, not written.`);
        const real = { root: spot.root, names: namesAt(spot) };
        const isDirect = spelledIn(roots, spelled).some((asked) => isSame(asked, real));
        await writeAt(spot, { spelled, isDirect, bytes, was, protectedFrom });
      }),
    keep: (text, name) => explaining({ path: scratch.path, doing: "write" }, () => scratch.keep(text, name)),
    close: async () => {
      await Promise.all([...roots.map(({ folder }) => folder.close()), scratch.close()]);
    },
  };
};

/** Everything that is held open. */
type Ground = {
  readonly first: Root;
  readonly roots: readonly Root[];
  readonly scratch: Scratch;
  readonly home: string;
  readonly secrets: readonly string[];
  /** All that may be read. */
  readonly all: () => readonly Root[];
};

const openGround = async ({ disk, ...given }: WorkspaceOptions): Promise<Ground> => {
  const home = await settledPath(disk, given.home);
  const roots = await openRoots(disk, given.roots);
  try {
    const [first] = roots;
    if (first === undefined) throw new Error("A workspace needs a root.");
    const scratch = await explaining({ path: given.scratch, doing: "read" }, () =>
      openScratch(disk, given.scratch, given.session),
    );
    if (roots.some(({ path }) => isInside(path, scratch.path))) throw new Error("The scratch folder holds a root.");
    const places = await Promise.all((given.secrets ?? []).map((path) => disk.canonical(path).catch(() => undefined)));
    const secrets = places.filter(
      (path) => path !== undefined && roots.every((root) => !isInside(root.path, path)) && path !== home,
    ) as readonly string[];
    return { first, roots, scratch, home, secrets, all: () => [...roots, ...scratch.roots()] };
  } catch (error) {
    await Promise.all(roots.map(({ folder }) => folder.close()));
    throw error;
  }
};

const openRoots = async (disk: Disk, paths: readonly string[]): Promise<readonly Root[]> => {
  const opened: Root[] = [];
  try {
    for (const given of paths) {
      const path = await disk.canonical(given);
      if (path === undefined) throw new PolicyError("file_not_found", `The folder ${shown(given)} is not there.`);
      if (opened.some((root) => root.path === path)) continue;
      opened.push({ path, given, spellings: [partsOf(path), partsOf(given)], folder: await disk.open(path) });
    }
    return opened;
  } catch (error) {
    await Promise.all(opened.map(({ folder }) => folder.close()));
    throw explained(error, paths[opened.length] ?? "", "read");
  }
};

type Doing = { readonly path: string; readonly doing: "read" | "write" };
type Work<Result> = (spot: Spot, spelled: string) => Promise<Result>;

/** Works at the spot a path leads to, and lets go of it. */
const at = <Result>(ground: Ground, { path, doing }: Doing, work: Work<Result>): Promise<Result> => {
  const { first, all, home, scratch } = ground;
  return explaining({ path, doing }, async () => {
    const spelled = readPath(path, first.path);
    const spot = await walk(all(), spelled);
    try {
      const real = pathOf(spot);
      if (isWithin(real, home) && !isInside(real, scratch.path))
        throw new PolicyError("policy_violation", `${shown(path)} belongs to the agent itself.`);
      if (ground.secrets.some((place) => isWithin(real, place)))
        throw new PolicyError(
          "policy_violation",
          `${shown(path)} can hold keys of the person, and is no part of the workspace.`,
        );
      return await work(spot, spelled);
    } finally {
      await release(spot);
    }
  });
};

const explaining = async <Result>({ path, doing }: Doing, work: () => Promise<Result>): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    throw explained(error, path, doing);
  }
};

/** Where the agent's own folder lies in a folder, nothing of it is found there. */
const exceptOwn = (home: string, folder: string, kept: Judge): Judge =>
  isWithin(home, folder)
    ? (name, isFolder) => (isWithin(join(folder, name), home) ? "the agent itself" : kept(name, isFolder))
    : kept;

/** The same for places with keys of the person. */
const exceptSecrets = (secrets: readonly string[], folder: string, kept: Judge): Judge => {
  const inside = secrets.filter((place) => isWithin(place, folder));
  return inside.length === 0
    ? kept
    : (name, isFolder) =>
        inside.some((place) => isWithin(join(folder, name), place)) ? "keys of the person" : kept(name, isFolder);
};

/** The names a path has in its root as it was spelled, links and all. */
const spelledIn = (roots: readonly Root[], path: string): readonly Named[] => {
  const parts = partsOf(path);
  const found = roots.flatMap((root) =>
    root.spellings
      .filter((spelling) => spelling.every((part, index) => parts[index] === part))
      .map((spelling) => ({ root, names: parts.slice(spelling.length) })),
  );
  return found.slice(0, 1);
};

const isSame = (one: Named, other: Named): boolean =>
  one.root === other.root && one.names.join("/") === other.names.join("/");

const filesIn = async (roots: readonly Root[], names: readonly string[]): Promise<readonly string[]> => {
  const found = roots.flatMap(({ path, folder }) =>
    names.map(async (name) => ((await folder.look(name))?.kind === "file" ? [`${path}/${name}`] : [])),
  );
  return (await Promise.all(found)).flat();
};
