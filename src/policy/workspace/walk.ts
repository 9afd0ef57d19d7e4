import { isAbsolute, sep } from "node:path";
import { DiskError, type DiskEntry, type Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { isInside, splitPath, quotePath } from "./paths.ts";

/** A root folder of the workspace, with its open handle. */
export type WorkspaceRoot = {
  /** The canonical path. */
  readonly path: string;
  /** The path it was opened by. */
  readonly requestedPath: string;
  /** The names in both paths. */
  readonly spellings: readonly (readonly string[])[];
  readonly folder: Folder;
  /** Whether error messages leave it out. */
  readonly isUnlisted?: boolean;
};

/** Where a walk ended. The caller closes it with `releaseWalk`. */
export type WalkResult = {
  readonly root: WorkspaceRoot;
  /** The last folder of the walk: the root's handle, or one opened for this walk. */
  readonly folder: Folder;
  /** The names from the root to the folder; none of them is a link. */
  readonly names: readonly string[];
  /** The name in the folder; undefined if the walk ended at the folder itself. */
  readonly name: string | undefined;
  /** The entry; undefined if it does not exist. It is never a link. */
  readonly entry: DiskEntry | undefined;
  /** The names after a missing one. */
  readonly missing: readonly string[];
};

/** The number of links Linux follows. */
const maxLinks = 40;

/** Enough for four thousand nested folders and back. */
const maxSteps = 2 ** 14;

/** Virtual file systems: reading a file there can block forever, or expose secrets of a process. */
const specialFilesystems = ["/proc", "/sys", "/dev"];

/**
 * Walks an absolute path from a root's handle, one name at a time. Links are read and followed here, never by the
 * operating system, and may lead anywhere inside the roots; a path that leads outside throws.
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

/** Closes the folder of a walk. The roots stay open. */
export const releaseWalk = async ({ root, folder }: Pick<WalkResult, "root" | "folder">): Promise<void> => {
  if (folder !== root.folder) await folder.close();
};

/** The canonical path of a walk. */
export const walkedPath = (result: WalkedNames): string => joinNames(result.root.path, walkedNames(result));

/** The names from the root to the end of a walk. */
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
  /** The names still to walk, the next one last. */
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
    this.#root = this.#findRoot([]);
    this.#folder = this.#root.folder;
  }

  async walk(): Promise<WalkResult> {
    for (let name = this.#pending.pop(); name !== undefined; name = this.#pending.pop()) {
      if ((this.#steps += 1) > maxSteps) throw this.#refusal("takes too many steps to resolve");
      if (name === "..") await this.#goUp();
      else {
        const entry = this.#pending.length === 0 ? await this.#folder.stat(name) : await this.#goDown(name);
        if (entry === "folder") continue;
        if (entry?.kind === "link") await this.#followLink(name);
        else return this.#createResult(name, entry);
      }
    }
    return this.#createResult(undefined, await this.#folder.statSelf());
  }

  async close(): Promise<void> {
    await releaseWalk({ root: this.#root, folder: this.#folder });
  }

  #createResult(name: string | undefined, entry: DiskEntry | undefined): WalkResult {
    const missing = this.#pending.toReversed();
    const result = { root: this.#root, folder: this.#folder, names: this.#names, name, entry, missing };
    this.#rejectSpecialFilesystems(walkedPath(result));
    if (entry !== undefined && missing.length > 0)
      throw new PolicyError(
        "path_is_not_a_directory",
        `${quotePath(walkedPath({ ...result, missing: [] }))} is not a folder.`,
      );
    if (missing.includes(".."))
      throw new PolicyError("file_not_found", `${quotePath(this.#path)} passes through a folder that does not exist.`);
    return result;
  }

  /** Opens the folder of a name; returns the entry if it is not a folder. */
  async #goDown(name: string): Promise<"folder" | DiskEntry | undefined> {
    for (;;)
      try {
        await this.#moveTo(await this.#folder.openFolder(name), [...this.#names, name]);
        return "folder";
      } catch (error) {
        if (!(error instanceof DiskError)) throw error;
        const entry = await this.#folder.stat(name);
        if (entry?.kind !== "folder") return entry;
        // It was not a folder when opened and is one now: another process swaps it, or just created it.
        if (error.code !== "ENOENT" || (this.#steps += 1) > maxSteps) throw error;
      }
  }

  async #moveTo(folder: Folder, names: string[]): Promise<void> {
    const before = this.#folder;
    this.#folder = folder;
    this.#names = names;
    await releaseWalk({ root: this.#root, folder: before });
    this.#rejectSpecialFilesystems(joinNames(this.#root.path, names));
  }

  /** Returns to the root and walks down again without the last name: the parent of a handle can be moved. */
  async #goUp(): Promise<void> {
    const names = this.#names.slice(0, -1);
    const isRoot = this.#names.length === 0;
    await this.#moveTo(this.#root.folder, []);
    if (isRoot) await this.#continueOutside(splitPath(this.#root.path).slice(0, -1));
    else this.#pending.push(...names.toReversed());
  }

  async #followLink(name: string): Promise<void> {
    if ((this.#links += 1) > maxLinks) throw this.#refusal("follows too many links");
    const target = await this.#folder.readLink(name);
    this.#pending.push(...splitPath(target).toReversed());
    if (!isAbsolute(target)) return;
    await this.#moveTo(this.#root.folder, []);
    await this.#continueOutside([]);
  }

  /** Continues outside all roots: only a path back into a root is accepted. */
  async #continueOutside(place: readonly string[]): Promise<void> {
    this.#root = this.#findRoot(place);
    this.#folder = this.#root.folder;
    this.#names = [];
  }

  /** Finds the root that the pending names lead into, starting outside all roots; the outermost of nested roots. */
  #findRoot(from: readonly string[]): WorkspaceRoot {
    let place = from;
    for (;;) {
      const root = this.#roots.find(({ spellings }) => spellings.some((spelling) => isEqual(spelling, place)));
      if (root !== undefined) return root;
      const name = this.#pending.pop();
      place = name === ".." ? place.slice(0, -1) : name === undefined ? place : [...place, name];
      const isOnTheWay = this.#roots.some(({ spellings }) => spellings.some((spelling) => startsWith(spelling, place)));
      if (name === undefined || !isOnTheWay) throw this.#refusal("is outside the workspace");
    }
  }

  #rejectSpecialFilesystems(path: string): void {
    if (specialFilesystems.some((place) => isInside(path, place) && !isInside(this.#root.path, place)))
      throw this.#refusal("is outside the workspace");
  }

  #refusal(reason: string): PolicyError {
    const places = this.#roots.flatMap(({ path, isUnlisted }) => (isUnlisted === true ? [] : [path])).join(", ");
    return new PolicyError("path_not_in_workspace", `${quotePath(this.#path)} ${reason}. Use a path inside ${places}.`);
  }
}

const startsWith = (parts: readonly string[], start: readonly string[]): boolean =>
  start.every((part, index) => parts[index] === part);

const isEqual = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && startsWith(one, other);
