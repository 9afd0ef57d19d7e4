import { dirname, join } from "node:path";
import type { Disk } from "../world/index.ts";

/** More files than this are not told apart by age. */
const most = 200_000;

/** More folders at once would only wait for each other. */
const atOnce = 8;

/** Files below a folder, and when each was changed. Looks while more are still being found. */
export class Ages {
  readonly #disk: Disk;
  readonly #folder: string;
  readonly #known: Aged[] = [];
  #count = 0;
  #work: Promise<void> = Promise.resolve();

  constructor(disk: Disk, folder: string) {
    this.#disk = disk;
    this.#folder = folder;
  }

  /** Takes more paths; false when there are too many. */
  add(paths: readonly string[]): boolean {
    if (paths.length === 0) return true;
    this.#count += paths.length;
    if (this.#count > most) return false;
    this.#work = this.#work.then(() => this.#look(paths));
    return true;
  }

  async latestFirst(): Promise<readonly string[]> {
    await this.#work;
    return latestFirst(this.#known);
  }

  async #look(paths: readonly string[]): Promise<void> {
    const folders = [...byFolder(paths)];
    const next = async (): Promise<void> => {
      for (let each = folders.pop(); each !== undefined; each = folders.pop()) await this.#lookIn(...each);
    };
    await Promise.all(Array.from({ length: atOnce }, next));
  }

  async #lookIn(below: string, paths: readonly string[]): Promise<void> {
    const folder = await this.#disk.open(join(this.#folder, below)).catch(() => undefined);
    const start = below === "." ? 0 : below.length + 1;
    const entries = await Promise.all(
      paths.map(async (path) => folder?.look(path.slice(start)).catch(() => undefined)),
    );
    await folder?.close();
    // What is gone by now was there a moment ago; it is named last.
    entries.forEach((entry, index) => this.#known.push({ path: paths[index] ?? "", modified: entry?.modified ?? 0 }));
  }
}

const byFolder = (paths: readonly string[]): ReadonlyMap<string, readonly string[]> => {
  const folders = new Map<string, string[]>();
  for (const path of paths) {
    const folder = dirname(path);
    const known = folders.get(folder);
    if (known === undefined) folders.set(folder, [path]);
    else known.push(path);
  }
  return folders;
};

export type Aged = { readonly path: string; readonly modified: number };

/** Paths by age, those of the same age by name. */
export const latestFirst = (files: readonly Aged[]): readonly string[] =>
  files
    .toSorted((one, other) => other.modified - one.modified || (one.path < other.path ? -1 : 1))
    .map(({ path }) => path);
