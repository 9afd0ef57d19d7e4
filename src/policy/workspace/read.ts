import type { DiskEntry, EntryKind, FileHandle, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { isInside, invalidNameReason, quotePath } from "./paths.ts";
import { explainDiskError } from "./disk-errors.ts";
import { walkedPath, type WalkResult } from "./walk.ts";

/** A place in the workspace: where it really is, and how people know it, relative to its root. */
export type WorkspacePath = {
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
export type WorkspaceFile = {
  readonly place: WorkspacePath;
  readonly read: (at: number, length: number) => Promise<Uint8Array>;
  readonly close: () => Promise<void>;
};

export type WorkspaceEntry = {
  readonly name: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly modified: number;
};

/** What a spot is to people. */
export const describePath = (spot: WalkResult, entry: DiskEntry | undefined): WorkspacePath => {
  const path = walkedPath(spot);
  const place = { path, shown: displayPath(spot.root.path, path) };
  if (entry === undefined) {
    const fault = findInvalidName([...(spot.name === undefined ? [] : [spot.name]), ...spot.missing]);
    const absent = { ...place, kind: "absent", size: 0, modified: 0, identity: "absent" } as const;
    return fault === undefined ? absent : { ...absent, fault };
  }
  const { kind, size, modified, identity } = entry;
  return { ...place, kind: kind === "link" ? "other" : kind, size, modified, identity };
};

/** Why one of these names may not be made. */
export const findInvalidName = (names: readonly string[]): string | undefined =>
  names.map(invalidNameReason).find((fault) => fault !== undefined);

const displayPath = (root: string, path: string): string => {
  if (path === root) return ".";
  return isInside(path, root) ? path.slice(root.length).replace(/^[/\\]/, "") : path;
};

/** Opens the regular file at a spot. */
export const openFileAt = async (spot: WalkResult): Promise<WorkspaceFile> => {
  const file = await requireFileAt(spot);
  try {
    const place = describePath(spot, await file.stat());
    const read = async (at: number, length: number): Promise<Uint8Array> => {
      try {
        return await file.read(at, length);
      } catch (error) {
        throw explainDiskError(error, place.path, "read");
      }
    };
    return { place, read, close: file.close };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** All bytes of the file at a spot, if there are not too many. */
export const readBytesAt = async (spot: WalkResult, most: number): Promise<Uint8Array> => {
  const file = await requireFileAt(spot);
  try {
    const { size } = await file.stat();
    const bytes = size > most ? undefined : await file.read(0, most + 1);
    if (bytes !== undefined && bytes.length <= most) return bytes;
    throw new PolicyError(
      "file_too_large",
      `${quotePath(walkedPath(spot))} is too large: ${Math.max(size, most + 1)} bytes, where ${most} may be read at once.`,
    );
  } finally {
    await file.close();
  }
};

const requireFileAt = async (spot: WalkResult): Promise<FileHandle> => {
  const { folder, name, entry } = spot;
  const path = quotePath(walkedPath(spot));
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no file ${path}.`);
  if (name === undefined || entry.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  return folder.openFile(name);
};

/** The first names in a folder, in order of name, and what stands under them. */
export const listFolderAt = async (spot: WalkResult, most: number): Promise<readonly WorkspaceEntry[]> => {
  const folder = await requireFolderAt(spot);
  try {
    const items = await readFirstNames(folder, most);
    const listed: WorkspaceEntry[] = [];
    for (let start = 0; start < items.length; start += maxConcurrentReads)
      listed.push(
        ...(await Promise.all(items.slice(start, start + maxConcurrentReads).map((item) => readDetails(folder, item)))),
      );
    return listed;
  } finally {
    if (folder !== spot.folder) await folder.close();
  }
};

/** More would only wait for each other. */
const maxConcurrentReads = 32;

type FolderItem = { readonly name: string; readonly kind: EntryKind };

/** Never more than twice as many as wanted are held, so a folder may be of any size. */
const readFirstNames = async (folder: Folder, most: number): Promise<readonly FolderItem[]> => {
  let items: FolderItem[] = [];
  const first = (): FolderItem[] => items.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, most);
  for await (const item of folder.list()) {
    items.push(item);
    if (items.length >= 2 * most + 1000) items = first();
  }
  return first();
};

const readDetails = async (folder: Folder, { name, kind }: FolderItem): Promise<WorkspaceEntry> => {
  const entry = await folder.stat(name).catch(() => undefined);
  return { name, kind: entry?.kind ?? kind, size: entry?.size ?? 0, modified: entry?.modified ?? 0 };
};

const requireFolderAt = async (spot: WalkResult): Promise<Folder> => {
  const { folder, name, entry } = spot;
  const path = quotePath(walkedPath(spot));
  if (name === undefined) return folder;
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no folder ${path}.`);
  if (entry.kind !== "folder") throw new PolicyError("path_is_not_a_directory", `${path} is not a folder.`);
  return folder.openFolder(name);
};
