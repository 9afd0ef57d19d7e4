import type { DirectoryEntry, OpenedFile, ResolvedPath } from "../../tools/capabilities.ts";
import type { DiskEntry, EntryKind, FileHandle, Folder } from "../../world/disk.ts";
import { PolicyError } from "../error.ts";
import { isInside, invalidNameReason, quotePath } from "./paths.ts";
import { explainDiskError } from "./disk-errors.ts";
import { walkedPath, type WalkResult } from "./walk.ts";

/** Describes the result of a walk. */
export const describePath = (walk: WalkResult, entry: DiskEntry | undefined): ResolvedPath => {
  const path = walkedPath(walk);
  const place = { path, shown: displayPath(walk.root.path, path) };
  if (entry === undefined) {
    const invalidReason = findInvalidName([...(walk.name === undefined ? [] : [walk.name]), ...walk.missing]);
    const absent = { ...place, kind: "absent", size: 0, modified: 0, identity: "absent" } as const;
    return invalidReason === undefined ? absent : { ...absent, fault: invalidReason };
  }
  const { kind, size, modified, identity } = entry;
  return { ...place, kind: kind === "link" ? "other" : kind, size, modified, identity };
};

/** Finds the first invalid name; returns why it is invalid. */
export const findInvalidName = (names: readonly string[]): string | undefined =>
  names.map(invalidNameReason).find((invalidReason) => invalidReason !== undefined);

const displayPath = (root: string, path: string): string => {
  if (path === root) return ".";
  return isInside(path, root) ? path.slice(root.length).replace(/^[/\\]/, "") : path;
};

/** Opens the regular file a walk ended at. */
export const openFileAt = async (walk: WalkResult): Promise<OpenedFile> => {
  const file = await requireFileAt(walk);
  try {
    const place = describePath(walk, await file.stat());
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

/** Reads the whole file a walk ended at. Throws if it is larger than `most` bytes. */
export const readBytesAt = async (walk: WalkResult, maxCount: number): Promise<Uint8Array> => {
  const file = await requireFileAt(walk);
  try {
    const { size } = await file.stat();
    const bytes = size > maxCount ? undefined : await file.read(0, maxCount + 1);
    if (bytes !== undefined && bytes.length <= maxCount) return bytes;
    throw new PolicyError(
      "file_too_large",
      `${quotePath(walkedPath(walk))} is too large: ${Math.max(size, maxCount + 1)} bytes (limit: ${maxCount}).`,
    );
  } finally {
    await file.close();
  }
};

const requireFileAt = async (walk: WalkResult): Promise<FileHandle> => {
  const { folder, name, entry } = walk;
  const path = quotePath(walkedPath(walk));
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no file ${path}.`);
  if (name === undefined || entry.kind === "folder")
    throw new PolicyError("target_is_directory", `${path} is a folder, not a file.`);
  if (entry.kind !== "file")
    throw new PolicyError("not_a_regular_file", `${path} is a pipe, a socket or a device, not a file.`);
  return folder.openFile(name);
};

/** Lists the first entries of a folder, sorted by name. */
export const listFolderAt = async (walk: WalkResult, maxCount: number): Promise<readonly DirectoryEntry[]> => {
  const folder = await requireFolderAt(walk);
  try {
    const items = await readFirstNames(folder, maxCount);
    const entries: DirectoryEntry[] = [];
    for (let start = 0; start < items.length; start += maxConcurrentReads)
      entries.push(
        ...(await Promise.all(items.slice(start, start + maxConcurrentReads).map((item) => readDetails(folder, item)))),
      );
    return entries;
  } finally {
    if (folder !== walk.folder) await folder.close();
  }
};

/** More would only wait for the thread pool. */
const maxConcurrentReads = 32;

type FolderItem = { readonly name: string; readonly kind: EntryKind };

/** Reads the first names. Holds about twice as many as wanted, so a folder may be of any size. */
const readFirstNames = async (folder: Folder, maxCount: number): Promise<readonly FolderItem[]> => {
  let items: FolderItem[] = [];
  const first = (): FolderItem[] => items.toSorted((one, other) => (one.name < other.name ? -1 : 1)).slice(0, maxCount);
  for await (const item of folder.list()) {
    items.push(item);
    if (items.length >= 2 * maxCount + 1000) items = first();
  }
  return first();
};

const readDetails = async (folder: Folder, { name, kind }: FolderItem): Promise<DirectoryEntry> => {
  const entry = await folder.stat(name).catch(() => undefined);
  return { name, kind: entry?.kind ?? kind, size: entry?.size ?? 0, modified: entry?.modified ?? 0 };
};

const requireFolderAt = async (walk: WalkResult): Promise<Folder> => {
  const { folder, name, entry } = walk;
  const path = quotePath(walkedPath(walk));
  if (name === undefined) return folder;
  if (entry === undefined) throw new PolicyError("file_not_found", `There is no folder ${path}.`);
  if (entry.kind !== "folder") throw new PolicyError("path_is_not_a_directory", `${path} is not a folder.`);
  return folder.openFolder(name);
};
