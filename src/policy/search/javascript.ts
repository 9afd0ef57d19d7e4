import { join } from "node:path";
import type { FileHandle, Folder } from "../../world/disk.ts";
import { startRegexWorker } from "./regex-worker.ts";
import {
  compareMatches,
  maxLineLength,
  maxMatchCharacters,
  type FindFilesOptions,
  type FindFilesResult,
  type SearchTextOptions,
  type SearchMatch,
  type SearchTextResult,
  type SearchScope,
  type SearchWorld,
} from "./open.ts";

/** Longer files are not searched here; ripgrep would. */
const maxFileBytes = 2 ** 24;

/** Finds files without ripgrep: one folder after the other, by handles. */
export const findFilesInJavaScript = async (
  world: SearchWorld,
  place: SearchScope,
  { wanted, most, signal }: FindFilesOptions,
): Promise<FindFilesResult> => {
  const found: { readonly path: string; readonly modified: number }[] = [];
  for await (const { path, look } of walkFiles(world, place, signal))
    if (wanted(path)) found.push({ path, modified: (await look())?.modified ?? 0 });
  const latest = found.toSorted((one, other) => other.modified - one.modified).slice(0, most);
  return { paths: latest.map(({ path }) => path), cut: found.length > most };
};

/** Finds text without ripgrep. The expression runs in a thread of its own, which is stopped when it takes too long. */
export const searchTextInJavaScript = async (
  world: SearchWorld,
  place: SearchScope,
  { pattern, wanted = () => true, most, signal }: SearchTextOptions,
): Promise<SearchTextResult> => {
  const matches: SearchMatch[] = [];
  let characters = 0;
  const looker = await startRegexWorker(pattern, world.clock, signal);
  try {
    for await (const { path, text } of walkFiles(world, place, signal)) {
      if (!wanted(path)) continue;
      for (const found of await looker.matchLines(await text(), maxLineLength + 1)) {
        if (matches.length === most || characters > maxMatchCharacters)
          return { matches: matches.toSorted(compareMatches), cut: true };
        matches.push({ path, ...found });
        characters += found.text.length;
      }
    }
  } finally {
    await looker.close();
  }
  return { matches: matches.toSorted(compareMatches), cut: false };
};

type WalkedFile = {
  readonly path: string;
  readonly look: () => ReturnType<Folder["stat"]>;
  /** Its text; "" where it is none. */
  readonly text: () => Promise<string>;
};

const walkFiles = async function* (
  world: SearchWorld,
  { folder: start, name: only, rules }: SearchScope,
  signal: AbortSignal,
): AsyncGenerator<WalkedFile> {
  const waiting: string[] = [""];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    signal.throwIfAborted();
    const folder = await world.disk.openFolder(join(start, below)).catch(() => undefined);
    if (folder === undefined) continue;
    try {
      const names = only === undefined ? await listNames(world, folder, rules) : { files: [only], folders: [] };
      waiting.push(...names.folders.map((name) => join(below, name)));
      for (const name of names.files)
        yield { path: join(below, name), look: () => folder.stat(name), text: () => readText(folder, name) };
    } finally {
      await folder.close();
    }
  }
};

type FolderNames = { readonly files: readonly string[]; readonly folders: readonly string[] };

/** The files and folders in a folder that no ignore file keeps out. */
const listNames = async (
  { files }: SearchWorld,
  folder: Folder,
  { git }: SearchScope["rules"],
): Promise<FolderNames> => {
  const isKept = await files.ignoring(folder.path, { git: false, own: true });
  const isIgnored = git ? await files.ignoring(folder.path, { git, own: false }) : () => undefined;
  const names = { files: [] as string[], folders: [] as string[] };
  for await (const { name, kind } of folder.list()) {
    if (name === ".git" || (kind !== "file" && kind !== "folder")) continue;
    const isFolder = kind === "folder";
    if (isKept(name, isFolder) !== undefined || isIgnored(name, isFolder) !== undefined) continue;
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

/** Text by its mark, else as UTF-8; nothing of what holds a NUL. */
const decodeText = async (file: FileHandle): Promise<string> => {
  const { size } = await file.stat();
  if (size > maxFileBytes) return "";
  const bytes = await file.read(0, size);
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.includes(0) ? "" : new TextDecoder().decode(bytes);
};
