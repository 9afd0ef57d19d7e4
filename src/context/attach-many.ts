import { text } from "../conversation/builders.ts";
import type { Place } from "../policy/workspace-read.ts";
import { nameLine } from "../tools/names.ts";
import { isPattern, matcher, splitPattern } from "../tools/pattern.ts";
import { ToolFailure } from "../tools/tool.ts";
import { attachFile, refused, type Attachment, type AttachOptions, type Room } from "./attachment.ts";
import { survey } from "./survey.ts";
import { treeText } from "./tree.ts";

/** Whether a mention means files by a pattern. */
export const isWild = (path: string): boolean => isPattern(path);

/** Attaches the names in a folder and below it. Who wants the contents of all its files writes `@folder/**`. */
export const attachFolder = async ({ path, shown }: Place, options: AttachOptions): Promise<Attachment> => {
  const kept = await options.files.ignored(path, { git: false, own: true });
  if (kept !== undefined) return refused("ignored", `${nameLine(shown)} is kept from models by ${kept}.`);
  const found = await survey({ ...options, folder: path });
  const tree = treeText(found);
  const words = `--- ${nameLine(shown)} (folder) ---\n${tree === "" ? "(nothing)" : tree}\n`;
  const isCut = found.folders.some(({ closed }) => closed === "far");
  return { type: "attached", path, kind: "folder", parts: [text(words)], blobs: [], isCut };
};

/** Attaches the files a pattern means, by path, as far as there is room; none that git ignores. */
export const attachPattern = async (
  pattern: string,
  options: AttachOptions,
  room: Room,
): Promise<readonly Attachment[]> => {
  const { folder, rest } = splitPattern(pattern);
  const isFit = fitting(rest);
  const place = isFit === undefined ? undefined : await options.files.resolve(folder || ".");
  if (isFit === undefined || place?.kind !== "folder") return [];
  const { folders } = await survey({ ...options, folder: place.path, most: 2000 });
  const paths = folders
    .flatMap(({ path, files, isSeen }) =>
      files
        .map((name) => ({ name, below: path === "" ? name : `${path}/${name}` }))
        .filter(({ name, below }) => isFit(below) && isSeen(name))
        .map(({ below }) => below),
    )
    .toSorted();
  const found: Attachment[] = [];
  for (const path of paths.slice(0, mostFiles)) {
    options.signal.throwIfAborted();
    const file = await attachFile(options.files, `${place.path}/${path}`, { room, signal: options.signal });
    // One of many: what is no text, or leads elsewhere, was not asked for by name.
    if (file.type === "attached" || file.reason === "too-large") found.push(file);
  }
  const left = paths.length - mostFiles;
  return left > 0
    ? [...found, refused("too-large", `${pattern} means ${left} files more than a message holds.`)]
    : found;
};

const mostFiles = 100;

const fitting = (pattern: string): ((path: string) => boolean) | undefined => {
  try {
    return matcher(pattern);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
};
