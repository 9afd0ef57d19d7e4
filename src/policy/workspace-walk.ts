import { isAbsolute, sep } from "node:path";
import { DiskError, type Entry, type Folder } from "../world/disk.ts";
import { PolicyError } from "./error.ts";
import { isInside, partsOf, shown } from "./paths.ts";

/** A folder that may be walked, by the handle it was opened with. */
export type Root = {
  /** Where it really is. */
  readonly path: string;
  /** How it was named when it was opened. */
  readonly given: string;
  /** The names in both. */
  readonly spellings: readonly (readonly string[])[];
  readonly folder: Folder;
};

/** Where a walk ended. Whoever takes one lets it go with `release`. */
export type Spot = {
  readonly root: Root;
  /** The last folder on the way; the root's own, or one that was opened for this spot. */
  readonly folder: Folder;
  /** The names that lead from the root to the folder; none of them is a link. */
  readonly names: readonly string[];
  /** What stands in the folder under this name; undefined when the spot is the folder itself. */
  readonly name: string | undefined;
  /** What stands there; undefined when nothing does. It is never a link. */
  readonly entry: Entry | undefined;
  /** The names after a missing one. */
  readonly missing: readonly string[];
};

/** As many links as Linux follows. */
const mostLinks = 40;

/** Enough for four thousand nested folders and the way back. */
const mostSteps = 2 ** 14;

/** Places where the system shows itself as files: reading one can wait for ever, or tell what a process keeps secret. */
const magic = ["/proc", "/sys", "/dev"];

/**
 * Walks an absolute path from a root's handle, one name at a time. Links are read and followed here, never by
 * the system, and lead anywhere inside the roots; whatever leads outside throws.
 */
export const walk = async (roots: readonly Root[], path: string): Promise<Spot> => {
  const walker = new Walker(roots, path);
  try {
    return await walker.walk();
  } catch (error) {
    await walker.letGo();
    throw error;
  }
};

/** Lets go of a spot. The roots stay open. */
export const release = async ({ root, folder }: Pick<Spot, "root" | "folder">): Promise<void> => {
  if (folder !== root.folder) await folder.close();
};

/** The real path of a spot. */
export const pathOf = (spot: Where): string => joined(spot.root.path, namesAt(spot));

/** The names that lead from the root to a spot. */
export const namesAt = ({ names, name, missing }: Where): readonly string[] => [
  ...names,
  ...(name === undefined ? [] : [name]),
  ...missing,
];

type Where = Pick<Spot, "root" | "names" | "name" | "missing">;

const joined = (base: string, names: readonly string[]): string =>
  names.length === 0 ? base : `${base.endsWith(sep) ? base : base + sep}${names.join(sep)}`;

class Walker {
  readonly #roots: readonly Root[];
  readonly #path: string;
  /** The names still to go, the next one last. */
  #pending: string[];
  #root: Root;
  #folder: Folder;
  #names: string[] = [];
  #links = 0;
  #steps = 0;

  constructor(roots: readonly Root[], path: string) {
    this.#roots = roots;
    this.#path = path;
    this.#pending = [...partsOf(path)].toReversed();
    this.#root = this.#enter([]);
    this.#folder = this.#root.folder;
  }

  async walk(): Promise<Spot> {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if ((this.#steps += 1) > mostSteps) throw this.#refusal("takes too many steps to resolve");
      if (name === "..") await this.#goUp();
      else {
        const entry = this.#pending.length === 0 ? await this.#folder.look(name) : await this.#goDown(name);
        if (entry === "folder") continue;
        if (entry?.kind === "link") await this.#goAlong(name);
        else return this.#spot(name, entry);
      }
    }
    return this.#spot(undefined, await this.#folder.self());
  }

  async letGo(): Promise<void> {
    await release({ root: this.#root, folder: this.#folder });
  }

  #spot(name: string | undefined, entry: Entry | undefined): Spot {
    const missing = this.#pending.toReversed();
    const spot = { root: this.#root, folder: this.#folder, names: this.#names, name, entry, missing };
    this.#avoidMagic(pathOf(spot));
    if (entry !== undefined && missing.length > 0)
      throw new PolicyError("path_is_not_a_directory", `${shown(pathOf({ ...spot, missing: [] }))} is not a folder.`);
    if (missing.includes(".."))
      throw new PolicyError("file_not_found", `${shown(this.#path)} leads through a folder that is not there.`);
    return spot;
  }

  /** Opens the folder under a name; tells what stands there instead if it is none. */
  async #goDown(name: string): Promise<"folder" | Entry | undefined> {
    try {
      await this.#moveTo(await this.#folder.folder(name), [...this.#names, name]);
      return "folder";
    } catch (error) {
      if (!(error instanceof DiskError)) throw error;
      const entry = await this.#folder.look(name);
      if (entry?.kind !== "folder") return entry;
      // It was something else when it was opened and is a folder now: somebody is swapping it. Or it was just made.
      if (error.code !== "ENOENT" || (this.#steps += 1) > mostSteps) throw error;
      return this.#goDown(name);
    }
  }

  async #moveTo(folder: Folder, names: string[]): Promise<void> {
    const before = this.#folder;
    this.#folder = folder;
    this.#names = names;
    await release({ root: this.#root, folder: before });
    this.#avoidMagic(joined(this.#root.path, names));
  }

  /** Back to the root, then down again without the last name: handles know no way up that cannot be moved. */
  async #goUp(): Promise<void> {
    const names = this.#names.slice(0, -1);
    const isRoot = this.#names.length === 0;
    await this.#moveTo(this.#root.folder, []);
    if (isRoot) await this.#leaveFor(partsOf(this.#root.path).slice(0, -1));
    else this.#pending.push(...names.toReversed());
  }

  async #goAlong(name: string): Promise<void> {
    if ((this.#links += 1) > mostLinks) throw this.#refusal("goes through too many links");
    const target = await this.#folder.link(name);
    this.#pending.push(...partsOf(target).toReversed());
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
  #enter(from: readonly string[]): Root {
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
    if (magic.some((place) => isInside(path, place) && !isInside(this.#root.path, place)))
      throw this.#refusal("is outside the workspace");
  }

  #refusal(why: string): PolicyError {
    const places = this.#roots.map(({ path }) => path).join(", ");
    return new PolicyError("path_not_in_workspace", `${shown(this.#path)} ${why}. Use a path inside ${places}.`);
  }
}

const startsWith = (parts: readonly string[], start: readonly string[]): boolean =>
  start.every((part, index) => parts[index] === part);

const isEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && startsWith(one, other);
