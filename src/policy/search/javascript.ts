import type { FindOptions, FindResult, GrepOptions, GrepResult } from "../../tools/capabilities.ts";
import { join } from "node:path";
import type { FileHandle, Folder } from "../../world/disk.ts";
import { startRegexWorker } from "./regex-worker.ts";
import {
  compareMatches,
  maxLineLength,
  maxMatchCharacters,
  type SearchMatch,
  type SearchScope,
  type SearchWorld,
} from "./open.ts";

/** Larger files are not searched here; ripgrep searches them. */
const maxFileBytes = 2 ** 24;

/** Finds files without ripgrep, one folder after the other, by handles. */
export const findFilesInJavaScript = async (
  world: SearchWorld,
  scope: SearchScope,
  { wanted, most: maxResults, signal }: FindOptions,
): Promise<FindResult> => {
  const found: { readonly path: string; readonly modified: number }[] = [];
  for await (const { path, look: stat } of walkFiles(world, scope, signal))
    if (wanted(path)) found.push({ path, modified: (await stat())?.modified ?? 0 });
  const latest = found.toSorted((one, other) => other.modified - one.modified).slice(0, maxResults);
  return { paths: latest.map(({ path }) => path), cut: found.length > maxResults };
};

/** Searches text without ripgrep. The expression runs in a worker thread, which is stopped when it takes too long. */
export const searchTextInJavaScript = async (
  world: SearchWorld,
  scope: SearchScope,
  { pattern, wanted = () => true, most: maxResults, signal }: GrepOptions,
): Promise<GrepResult> => {
  const matches: SearchMatch[] = [];
  let characters = 0;
  const worker = await startRegexWorker(pattern, world.clock, signal);
  try {
    for await (const { path, text } of walkFiles(world, scope, signal)) {
      if (!wanted(path)) continue;
      for (const found of await worker.matchLines(await text(), maxLineLength + 1)) {
        if (matches.length === maxResults || characters > maxMatchCharacters)
          return { matches: matches.toSorted(compareMatches), cut: true };
        matches.push({ path, ...found });
        characters += found.text.length;
      }
    }
  } finally {
    await worker.close();
  }
  return { matches: matches.toSorted(compareMatches), cut: false };
};

type WalkedFile = {
  readonly path: string;
  readonly look: () => ReturnType<Folder["stat"]>;
  /** Its text; "" if it is not a text file. */
  readonly text: () => Promise<string>;
};

const walkFiles = async function* (
  world: SearchWorld,
  { folder: start, name: onlyName, rules }: SearchScope,
  signal: AbortSignal,
): AsyncGenerator<WalkedFile> {
  const pendingFolders: string[] = [""];
  for (let below = pendingFolders.pop(); below !== undefined; below = pendingFolders.pop()) {
    signal.throwIfAborted();
    const folder = await world.disk.openFolder(join(start, below)).catch(() => undefined);
    if (folder === undefined) continue;
    try {
      const names = onlyName === undefined ? await listNames(world, folder, rules) : { files: [onlyName], folders: [] };
      pendingFolders.push(...names.folders.map((name) => join(below, name)));
      for (const name of names.files)
        yield { path: join(below, name), look: () => folder.stat(name), text: () => readText(folder, name) };
    } finally {
      await folder.close();
    }
  }
};

type FolderNames = { readonly files: readonly string[]; readonly folders: readonly string[] };

/** Lists the files and folders in a folder that no ignore file excludes. */
const listNames = async (
  { files }: SearchWorld,
  folder: Folder,
  { git }: SearchScope["rules"],
): Promise<FolderNames> => {
  const findIgnoreFile = await files.ignoring(folder.path, { git: false, own: true });
  const findGitIgnoreFile = git ? await files.ignoring(folder.path, { git, own: false }) : () => undefined;
  const names = { files: [] as string[], folders: [] as string[] };
  for await (const { name, kind } of folder.list()) {
    if (name === ".git" || (kind !== "file" && kind !== "folder")) continue;
    const isFolder = kind === "folder";
    if (findIgnoreFile(name, isFolder) !== undefined || findGitIgnoreFile(name, isFolder) !== undefined) continue;
    names[isFolder ? "folders" : "files"].push(name);
  }
  return names;
};

const readText = async (folder: Folder, name: string): Promise<string> => {
  const file = await folder.openFile(name).catch(() => undefined);
  if (file === undefined) return "";
  try {
    return await decodeText(file);
  } finally {
    await file.close();
  }
};

/** Decodes by the byte order mark, else as UTF-8; empty for binary files (with a NUL). */
const decodeText = async (file: FileHandle): Promise<string> => {
  const { size } = await file.stat();
  if (size > maxFileBytes) return "";
  const bytes = await file.read(0, size);
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.includes(0) ? "" : new TextDecoder().decode(bytes);
};
