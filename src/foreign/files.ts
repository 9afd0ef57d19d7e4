import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Disk, FileHandle, Folder } from "../world/disk.ts";
import type { World } from "../world/world.ts";
import { ForeignSessionError } from "./error.ts";
import type { BaseFolder, PathNames } from "./format.ts";
import { parseObject, type ForeignRecord } from "./json.ts";

/** A file below an agent's folder. */
export type FoundFile = { readonly path: PathNames; readonly size: number; readonly modified: number };

/** The files a search found, and how many links it did not follow. */
export type FoundFiles = { readonly files: readonly FoundFile[]; readonly links: number };

/** Where to look: the world, the user's home folder, and the project's folder. */
export type SearchPlace = {
  readonly world: Pick<World, "disk" | "env">;
  readonly home: string;
  readonly folder: string | undefined;
};

/** Returns the canonical path of an agent's folder; undefined if there is none. A variable that is set wins. */
export const resolveBase = async (
  { world: { disk, env }, home, folder }: SearchPlace,
  bases: readonly BaseFolder[],
): Promise<string | undefined> => {
  for (const base of bases) {
    if ("home" in base) return disk.canonicalPath(join(home, base.home));
    if ("project" in base) return folder === undefined ? undefined : disk.canonicalPath(join(folder, base.project));
    const value = env[base.variable]?.trim() ?? "";
    if (value.startsWith("/")) return disk.canonicalPath(join(value, base.below ?? ""));
  }
  return undefined;
};

/** A folder with more entries than this is not searched to its end. */
const maxFiles = 20_000;

/** Finds the files below a folder whose path matches a pattern. Links are counted and not followed. */
export const findFiles = async (disk: Disk, base: string, pattern: PathNames): Promise<FoundFiles> => {
  const files: FoundFile[] = [];
  let links = 0;
  const visit = async (folder: Folder, path: PathNames): Promise<void> => {
    const [wanted = "", ...rest] = pattern.slice(path.length);
    const names = wanted.includes("*") ? await listMatching(folder, globExpression(wanted)) : [wanted];
    for (const name of names) {
      if (files.length === maxFiles) return;
      const entry = await folder.stat(name).catch(() => undefined);
      if (entry?.kind === "link") links += 1;
      else if (entry?.kind === "file" && rest.length === 0)
        files.push({ path: [...path, name], size: entry.size, modified: entry.modified });
      else if (entry?.kind === "folder" && rest.length > 0)
        await withOpenFolder(
          () => folder.openFolder(name),
          (child) => visit(child, [...path, name]),
        );
    }
  };
  await withOpenFolder(
    () => disk.openFolder(base),
    (folder) => visit(folder, []),
  );
  return { files, links };
};

/** Lists the JSON Lines files in a folder below a base, at most one level down. */
export const listFilesIn = async (disk: Disk, base: string, path: PathNames): Promise<readonly FoundFile[]> => {
  const [flat, nested] = await Promise.all([
    findFiles(disk, base, [...path, "*.jsonl"]),
    findFiles(disk, base, [...path, "*", "*.jsonl"]),
  ]);
  return [...flat.files, ...nested.files];
};

/** Opens a file below a base folder, without following any link, and closes it after the work. */
export const withFile = async <Result>(
  disk: Disk,
  base: string,
  path: PathNames,
  work: (file: FileHandle) => Promise<Result>,
): Promise<Result> => {
  const open: Folder[] = [await disk.openFolder(base)];
  try {
    for (const name of path.slice(0, -1)) open.push(await open.at(-1)!.openFolder(name));
    const file = await open.at(-1)!.openFile(path.at(-1) ?? "");
    try {
      return await work(file);
    } finally {
      await file.close();
    }
  } finally {
    for (const folder of open.toReversed()) await folder.close();
  }
};

/** Reads the text of a small file below a base folder; empty if there is none. */
export const readSmallFile = (disk: Disk, base: string, path: PathNames): Promise<string> =>
  withFile(disk, base, path, async (file) => Buffer.from(await file.read(0, maxSmallFile)).toString("utf8")).catch(
    () => "",
  );

const maxSmallFile = 2 ** 22;

/** The parsed records of a file, the SHA-256 of its bytes, and what could not be parsed. */
export type FileRecords = {
  readonly records: readonly ForeignRecord[];
  readonly digest: string;
  readonly size: number;
  readonly invalid: number;
  readonly tooLong: number;
  /** Whether the last line is incomplete. */
  readonly isTorn: boolean;
};

/** Larger files are refused. */
const maxFileBytes = 2 ** 30;
/** Longer lines are left out: V8 strings end at 512 MB. */
const maxLineBytes = 2 ** 26;
const chunkBytes = 2 ** 20;

/** Reads a file of JSON lines in chunks, up to its size now. `skip` drops records as they come. */
export const readJsonLines = async (file: FileHandle, { skip, onProgress }: ReadOptions = {}): Promise<FileRecords> => {
  const { size } = await file.stat();
  if (size > maxFileBytes)
    throw new ForeignSessionError(`The file is too large: ${size} bytes of at most ${maxFileBytes}.`);
  const hash = createHash("sha256");
  const records: ForeignRecord[] = [];
  let [invalid, tooLong, length] = [0, 0, 0];
  let pieces: Uint8Array[] = [];
  const take = (isLast: boolean): boolean => {
    const text = length > maxLineBytes ? "" : Buffer.concat(pieces).toString("utf8").replaceAll("\0", "").trim();
    if (length > maxLineBytes) tooLong += 1;
    pieces = [];
    length = 0;
    if (text === "" || text === "\uFEFF") return false;
    const record = parseObject(text);
    if (record === undefined && !isLast) invalid += 1;
    else if (record !== undefined && skip?.(record) !== true) records.push(record);
    return record === undefined;
  };
  for (let at = 0; at < size;) {
    const chunk = await file.read(at, Math.min(chunkBytes, size - at));
    if (chunk.length === 0) break;
    hash.update(chunk);
    at += chunk.length;
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      length += end - start;
      if (length <= maxLineBytes) pieces.push(chunk.subarray(start, end));
      take(false);
      start = end + 1;
    }
    length += chunk.length - start;
    if (length <= maxLineBytes) pieces.push(chunk.subarray(start));
    onProgress?.(at, size);
  }
  const isTorn = take(true);
  return { records, digest: hash.digest("hex"), size, invalid, tooLong, isTorn };
};

/** Options for reading all records of a file. */
export type ReadOptions = {
  readonly skip?: ((record: ForeignRecord) => boolean) | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
};

/** Reads a file that is one JSON document, as a single record. */
export const readJsonDocument = async (file: FileHandle): Promise<FileRecords> => {
  const { size } = await file.stat();
  if (size > maxDocumentBytes)
    throw new ForeignSessionError(`The file is too large: ${size} bytes of at most ${maxDocumentBytes}.`);
  const bytes = await file.read(0, size);
  const record = parseObject(Buffer.from(bytes).toString("utf8"));
  const digest = createHash("sha256").update(bytes).digest("hex");
  return {
    records: record === undefined ? [] : [record],
    digest,
    size,
    invalid: 0,
    tooLong: 0,
    isTorn: record === undefined && size > 0,
  };
};

const maxDocumentBytes = 2 ** 28;

const tailBytes = 2 ** 14;

/** Reads the whole records in the first `headBytes` and at the end of a file, for a list. A document is one record. */
export const peekRecords = async (
  file: FileHandle,
  isDocument: boolean,
  headBytes: number,
): Promise<{ readonly head: readonly ForeignRecord[]; readonly tail: readonly ForeignRecord[] }> => {
  const { size } = await file.stat();
  if (isDocument && size <= maxSmallFile) return { head: (await readJsonDocument(file)).records, tail: [] };
  const first = await file.read(0, Math.min(size, headBytes));
  const rest = size > headBytes ? await file.read(Math.max(headBytes, size - tailBytes), tailBytes) : new Uint8Array();
  return { head: parseLines(first), tail: parseLines(rest) };
};

const parseLines = (bytes: Uint8Array): readonly ForeignRecord[] =>
  Buffer.from(bytes)
    .toString("utf8")
    .split("\n")
    .flatMap((line): readonly ForeignRecord[] => {
      const record = line.startsWith("{") ? parseObject(line) : undefined;
      return record === undefined ? [] : [record];
    });

const withOpenFolder = async (open: () => Promise<Folder>, work: (folder: Folder) => Promise<void>): Promise<void> => {
  const folder = await open().catch(() => undefined);
  if (folder === undefined) return;
  try {
    await work(folder);
  } finally {
    await folder.close();
  }
};

const listMatching = async (folder: Folder, expression: RegExp): Promise<readonly string[]> => {
  const names: string[] = [];
  for await (const { name } of folder.list()) {
    if (names.length === maxFiles) break;
    if (expression.test(name)) names.push(name);
  }
  // Names with a time in them: the newest come first.
  return names.toSorted().toReversed();
};

const globExpression = (pattern: string): RegExp =>
  new RegExp(
    `^${pattern
      .split("*")
      .map((text) => text.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
    "s",
  );
