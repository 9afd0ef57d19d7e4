import type { Entry, EntryKind, FileHandle, Folder } from "../world/disk.ts";
import { PolicyError } from "./error.ts";
import { isInside, nameFault, shown } from "./paths.ts";
import { explained } from "./workspace-errors.ts";
import { pathOf, type Spot } from "./workspace-walk.ts";

/** A place in the workspace: where it really is, and how people know it, relative to its root. */
export type Place = {
  readonly path: string;
  readonly shown: string;
  readonly kind: "file" | "folder" | "other" | "absent";
  readonly size: number;
  readonly modified: number;
  /** "absent" where there is nothing. */
  readonly identity: string;
  /** Why nothing may be made there, where there is nothing. */
  readonly fault?: string;
};

/** A file open for reading. Close it. */
export type OpenFile = {
  readonly place: Place;
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

export type Listed = {
  readonly name: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly modified: number;
};

/** What a spot is to people. */
export const placeAt = (spot: Spot, entry: Entry | undefined): Place => {
  const path = pathOf(spot);
  const place = { path, shown: shownIn(spot.root.path, path) };
  if (entry === undefined) {
    const fault = faultIn([...(spot.name === undefined ? [] : [spot.name]), ...spot.missing]);
    const absent = { ...place, kind: "absent", size: 0, modified: 0, identity: "absent" } as const;
    return fault === undefined ? absent : { ...absent, fault };
  }
  const { kind, size, modified, identity } = entry;
  return { ...place, kind: kind === "link" ? "other" : kind, size, modified, identity };
};

/** Why one of these names may not be made. */
export const faultIn = (names: readonly string[]): string | undefined =>
  names.map(nameFault).find((fault) => fault !== undefined);

const shownIn = (root: string, path: string): string => {
  if (path === root) return ".";
  return isInside(path, root) ? path.slice(root.length).replace(/^[/\\]/, "") : path;
};

/** Opens the regular file at a spot. */
export const openAt = async (spot: Spot): Promise<OpenFile> => {
  const file = await fileAt(spot);
  try {
    const place = placeAt(spot, await file.look());
    const read = async (at: number, length: number): Promise<Uint8Array> => {
      try {
        return await file.read(at, length);
      } catch (error) {
        throw explained(error, place.path, "read");
      }
    };
    return { place, read, close: file.close };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** All bytes of the file at a spot, if there are not too many. */
export const bytesAt = async (spot: Spot, most: number): Promise<Uint8Array> => {
  const file = await fileAt(spot);
  try {
    const { size } = await file.look();
    const bytes = size > most ? undefined : await file.read(0, most + 1);
    if (bytes !== undefined && bytes.length <= most) return bytes;
    throw new PolicyError(
      "file_too_large",
      `${shown(pathOf(spot))} is too large: ${Math.max(size, most + 1)} bytes, where ${most} may be read at once.`,
    );
  } finally {
    await file.close();
  }
};

const fileAt = async (spot: Spot): Promise<FileHandle> => {
  const { folder, name, entry } = spot;
  const path = shown(pathOf(spot));
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no file ${path}.`);
  if (name === undefined || entry.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  return folder.file(name);
};

/** The first names in a folder, in order of name, and what stands under them. */
export const listAt = async (spot: Spot, most: number): Promise<readonly Listed[]> => {
  const folder = await folderAt(spot);
  try {
    const items = await firstNames(folder, most);
    const listed: Listed[] = [];
    for (let start = 0; start < items.length; start += atOnce)
      listed.push(...(await Promise.all(items.slice(start, start + atOnce).map((item) => detailed(folder, item)))));
    return listed;
  } finally {
    if (folder !== spot.folder) await folder.close();
  }
};

/** More would only wait for each other. */
const atOnce = 32;

type Item = { readonly name: string; readonly kind: EntryKind };

/** Never more than twice as many as wanted are held, so a folder may be of any size. */
const firstNames = async (folder: Folder, most: number): Promise<readonly Item[]> => {
  let items: Item[] = [];
  const first = (): Item[] => items.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, most);
  for await (const item of folder.list()) {
    items.push(item);
    if (items.length >= 2 * most + 1000) items = first();
  }
  return first();
};

const detailed = async (folder: Folder, { name, kind }: Item): Promise<Listed> => {
  const entry = await folder.look(name).catch(() => undefined);
  return { name, kind: entry?.kind ?? kind, size: entry?.size ?? 0, modified: entry?.modified ?? 0 };
};

const folderAt = async (spot: Spot): Promise<Folder> => {
  const { folder, name, entry } = spot;
  const path = shown(pathOf(spot));
  if (name === undefined) return folder;
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no folder ${path}.`);
  if (entry.kind !== "folder") throw new PolicyError("path_is_not_a_directory", `${path} is not a folder.`);
  return folder.folder(name);
};
