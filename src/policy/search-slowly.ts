import { join } from "node:path";
import type { FileHandle, Folder } from "../world/disk.ts";
import { openLooker } from "./search-looker.ts";
import {
  byPlace,
  longestText,
  mostCharacters,
  type Find,
  type Found,
  type Grep,
  type Match,
  type Matches,
  type SearchPlace,
  type SearchWorld,
} from "./search.ts";

/** Longer files are not searched here; ripgrep would. */
const longestFile = 2 ** 24;

/** Finds files without ripgrep: one folder after the other, by handles. */
export const findSlowly = async (
  world: SearchWorld,
  place: SearchPlace,
  { wanted, most, signal }: Find,
): Promise<Found> => {
  const found: { readonly path: string; readonly modified: number }[] = [];
  for await (const { path, look } of filesBelow(world, place, signal))
    if (wanted(path)) found.push({ path, modified: (await look())?.modified ?? 0 });
  const latest = found.toSorted((one, other) => other.modified - one.modified).slice(0, most);
  return { paths: latest.map(({ path }) => path), cut: found.length > most };
};

/** Finds text without ripgrep. The expression runs in a thread of its own, which is stopped when it takes too long. */
export const grepSlowly = async (
  world: SearchWorld,
  place: SearchPlace,
  { pattern, wanted = () => true, most, signal }: Grep,
): Promise<Matches> => {
  const matches: Match[] = [];
  let characters = 0;
  const looker = await openLooker(pattern, world.clock, signal);
  try {
    for await (const { path, text } of filesBelow(world, place, signal)) {
      if (!wanted(path)) continue;
      for (const found of await looker.look(await text(), longestText + 1)) {
        if (matches.length === most || characters > mostCharacters)
          return { matches: matches.toSorted(byPlace), cut: true };
        matches.push({ path, ...found });
        characters += found.text.length;
      }
    }
  } finally {
    await looker.close();
  }
  return { matches: matches.toSorted(byPlace), cut: false };
};

type Seen = {
  readonly path: string;
  readonly look: () => ReturnType<Folder["look"]>;
  /** Its text; "" where it is none. */
  readonly text: () => Promise<string>;
};

const filesBelow = async function* (
  world: SearchWorld,
  { folder: start, name: only, rules }: SearchPlace,
  signal: AbortSignal,
): AsyncGenerator<Seen> {
  const waiting: string[] = [""];
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    signal.throwIfAborted();
    const folder = await world.disk.open(join(start, below)).catch(() => undefined);
    if (folder === undefined) continue;
    try {
      const names = only === undefined ? await namesIn(world, folder, rules) : { files: [only], folders: [] };
      waiting.push(...names.folders.map((name) => join(below, name)));
      for (const name of names.files)
        yield { path: join(below, name), look: () => folder.look(name), text: () => textOf(folder, name) };
    } finally {
      await folder.close();
    }
  }
};

type Names = { readonly files: readonly string[]; readonly folders: readonly string[] };

/** The files and folders in a folder that no ignore file keeps out. */
const namesIn = async ({ files }: SearchWorld, folder: Folder, { git }: SearchPlace["rules"]): Promise<Names> => {
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

const textOf = async (folder: Folder, name: string): Promise<string> => {
  const file = await folder.file(name).catch(() => undefined);
  if (file === undefined) return "";
  try {
    return await decoded(file);
  } finally {
    await file.close();
  }
};

/** Text by its mark, else as UTF-8; nothing of what holds a NUL. */
const decoded = async (file: FileHandle): Promise<string> => {
  const { size } = await file.look();
  if (size > longestFile) return "";
  const bytes = await file.read(0, size);
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0xfe && second === 0xff) return new TextDecoder("utf-16be").decode(bytes);
  return bytes.includes(0) ? "" : new TextDecoder().decode(bytes);
};
