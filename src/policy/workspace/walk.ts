import { isAbsolute, sep } from "node:path";
import { DiskError, type DiskEntry, type Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { isInside, splitPath, quotePath } from "./paths.ts";

/** A folder that may be walked, by the handle it was opened with. */
export type WorkspaceRoot = {
  /** Where it really is. */
  readonly path: string;
  /** How it was named when it was opened. */
  readonly requestedPath: string;
  /** The names in both. */
  readonly spellings: readonly (readonly string[])[];
  readonly folder: Folder;
};

/** Where a walk ended. Whoever takes one lets it go with `release`. */
export type WalkResult = {
  readonly root: WorkspaceRoot;
  /** The last folder on the way; the root's own, or one that was opened for this spot. */
  readonly folder: Folder;
  /** The names that lead from the root to the folder; none of them is a link. */
  readonly names: readonly string[];
  /** What stands in the folder under this name; undefined when the spot is the folder itself. */
  readonly name: string | undefined;
  /** What stands there; undefined when nothing does. It is never a link. */
  readonly entry: DiskEntry | undefined;
  /** The names after a missing one. */
  readonly missing: readonly string[];
};

/** As many links as Linux follows. */
const maxLinks = 40;

/** Enough for four thousand nested folders and the way back. */
const maxSteps = 2 ** 14;

/** Places where the system shows itself as files: reading one can wait for ever, or tell what a process keeps secret. */
const specialFilesystems = ["/proc", "/sys", "/dev"];

/**
 * Walks an absolute path from a root's handle, one name at a time. Links are read and followed here, never by
 * the system, and lead anywhere inside the roots; whatever leads outside throws.
 */
export const walkPath = async (roots: readonly WorkspaceRoot[], path: string): Promise<WalkResult> => {
  const walker = new PathWalker(roots, path);
  try {
    return await walker.walk();
  } catch (error) {
    await walker.close();
    throw error;
  }
};

/** Lets go of a spot. The roots stay open. */
export const releaseWalk = async ({ root, folder }: Pick<WalkResult, "root" | "folder">): Promise<void> => {
  if (folder !== root.folder) await folder.close();
};

/** The real path of a spot. */
export const walkedPath = (spot: WalkedNames): string => joinNames(spot.root.path, walkedNames(spot));

/** The names that lead from the root to a spot. */
export const walkedNames = ({ names, name, missing }: WalkedNames): readonly string[] => [
  ...names,
  ...(name === undefined ? [] : [name]),
  ...missing,
];

type WalkedNames = Pick<WalkResult, "root" | "names" | "name" | "missing">;

const joinNames = (base: string, names: readonly string[]): string =>
  names.length === 0 ? base : `${base.endsWith(sep) ? base : base + sep}${names.join(sep)}`;

class PathWalker {
  readonly #roots: readonly WorkspaceRoot[];
  readonly #path: string;
  /** The names still to go, the next one last. */
  #pending: string[];
  #root: WorkspaceRoot;
  #folder: Folder;
  #names: string[] = [];
  #links = 0;
  #steps = 0;

  constructor(roots: readonly WorkspaceRoot[], path: string) {
    this.#roots = roots;
    this.#path = path;
    this.#pending = [...splitPath(path)].toReversed();
    this.#root = this.#enter([]);
    this.#folder = this.#root.folder;
  }

  async walk(): Promise<WalkResult> {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if ((this.#steps += 1) > maxSteps) throw this.#refusal("takes too many steps to resolve");
      if (name === "..") await this.#goUp();
      else {
        const entry = this.#pending.length === 0 ? await this.#folder.stat(name) : await this.#goDown(name);
        if (entry === "folder") continue;
        if (entry?.kind === "link") await this.#goAlong(name);
        else return this.#spot(name, entry);
      }
    }
    return this.#spot(undefined, await this.#folder.statSelf());
  }

  async close(): Promise<void> {
    await releaseWalk({ root: this.#root, folder: this.#folder });
  }

  #spot(name: string | undefined, entry: DiskEntry | undefined): WalkResult {
    const missing = this.#pending.toReversed();
    const spot = { root: this.#root, folder: this.#folder, names: this.#names, name, entry, missing };
    this.#avoidMagic(walkedPath(spot));
    if (entry !== undefined && missing.length > 0)
      throw new PolicyError(
        "path_is_not_a_directory",
        `${quotePath(walkedPath({ ...spot, missing: [] }))} is not a folder.`,
      );
    if (missing.includes(".."))
      throw new PolicyError("file_not_found", `${quotePath(this.#path)} leads through a folder that is not there.`);
    return spot;
  }

  /** Opens the folder under a name; tells what stands there instead if it is none. */
  async #goDown(name: string): Promise<"folder" | DiskEntry | undefined> {
    try {
      await this.#moveTo(await this.#folder.openFolder(name), [...this.#names, name]);
      return "folder";
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      const entry = await this.#folder.stat(name);
      if (entry?.kind !== "folder") return entry;
      // It was something else when it was opened and is a folder now: somebody is swapping it. Or it was just made.
      if (error.code !== "ENOENT" || (this.#steps += 1) > maxSteps) throw error;
      return this.#goDown(name);
    }
  }

  async #moveTo(folder: Folder, names: string[]): Promise<void> {
    const before = this.#folder;
    this.#folder = folder;
    this.#names = names;
    await releaseWalk({ root: this.#root, folder: before });
    this.#avoidMagic(joinNames(this.#root.path, names));
  }

  /** Back to the root, then down again without the last name: handles know no way up that cannot be moved. */
  async #goUp(): Promise<void> {
    const names = this.#names.slice(0, -1);
    const isRoot = this.#names.length === 0;
    await this.#moveTo(this.#root.folder, []);
    if (isRoot) await this.#leaveFor(splitPath(this.#root.path).slice(0, -1));
    else this.#pending.push(...names.toReversed());
  }

  async #goAlong(name: string): Promise<void> {
    if ((this.#links += 1) > maxLinks) throw this.#refusal("goes through too many links");
    const target = await this.#folder.readLink(name);
    this.#pending.push(...splitPath(target).toReversed());
    if (!isAbsolute(target)) return;
    await this.#moveTo(this.#root.folder, []);
    await this.#leaveFor([]);
  }

  /** Outside all roots, at this place: only a way back in is of interest. */
  async #leaveFor(place: readonly string[]): Promise<void> {
    this.#root = this.#enter(place);
    this.#folder = this.#root.folder;
    this.#names = [];
  }

  /** The root the pending names lead into, from a place in no root; the outermost, where one is inside another. */
  #enter(from: readonly string[]): WorkspaceRoot {
    let place = from;
    for (;;) {
      const root = this.#roots.find(({ spellings }) => spellings.some((spelling) => isEqual(spelling, place)));
      if (root !== undefined) return root;
      const name = this.#pending.pop();
      place = name === ".." ? place.slice(0, -1) : name === undefined ? place : [...place, name];
      const leadsOn = this.#roots.some(({ spellings }) => spellings.some((spelling) => startsWith(spelling, place)));
      if (name === undefined || !leadsOn) throw this.#refusal("is outside the workspace");
    }
  }

  #avoidMagic(path: string): void {
    if (specialFilesystems.some((place) => isInside(path, place) && !isInside(this.#root.path, place)))
      throw this.#refusal("is outside the workspace");
  }

  #refusal(why: string): PolicyError {
    const places = this.#roots.map(({ path }) => path).join(", ");
    return new PolicyError("path_not_in_workspace", `${quotePath(this.#path)} ${why}. Use a path inside ${places}.`);
  }
}

const startsWith = (parts: readonly string[], start: readonly string[]): boolean =>
  start.every((part, index) => parts[index] === part);

const isEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && startsWith(one, other);
