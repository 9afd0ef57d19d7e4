import type { ResolvedPath } from "../../tools/capabilities.ts";
import { text } from "../../conversation/builders.ts";
import { escapeName } from "../../tools/files/escape-name.ts";
import { createGlobMatcher, splitGlob } from "../../tools/search/glob-pattern.ts";
import { ToolFailure } from "../../tools/tool.ts";
import {
  attachFile,
  refuseAttachment,
  type Attachment,
  type AttachOptions,
  type AttachmentBudget,
} from "./attach-file.ts";
import { scanWorkspace } from "../workspace/scan.ts";
import { formatTree } from "../workspace/tree.ts";

/** Whether a mention means files by a pattern. */

/** Attaches the names in a folder and below it. Who wants the contents of all its files writes `@folder/**`. */
export const attachFolder = async ({ path, shown }: ResolvedPath, options: AttachOptions): Promise<Attachment> => {
  const kept = await options.files.ignored(path, { git: false, own: true });
  if (kept !== undefined)
    return refuseAttachment("ignored", `${escapeName(shown)} is excluded from models by ${kept}.`);
  const found = await scanWorkspace({ ...options, folder: path });
  const tree = formatTree(found);
  const words = `--- ${escapeName(shown)} (folder) ---\n${tree === "" ? "(nothing)" : tree}\n`;
  const isCut = found.folders.some(({ skipped: closed }) => closed === "far");
  return { type: "attached", path, kind: "folder", parts: [text(words)], blobs: [], isCut };
};

/** Attaches the files a pattern means, by path, as far as there is room; none that git ignores. */
export const attachPattern = async (
  pattern: string,
  options: AttachOptions,
  room: AttachmentBudget,
): Promise<readonly Attachment[]> => {
  const { folder, rest } = splitGlob(pattern);
  const isFit = createMatcher(rest);
  const place = isFit === undefined ? undefined : await options.files.resolve(folder || ".");
  if (isFit === undefined || place?.kind !== "folder") return [];
  const { folders } = await scanWorkspace({ ...options, folder: place.path, maxFolders: 2000 });
  const paths = folders
    .flatMap(({ path, files, isVisible: isSeen }) =>
      files
        .map((name) => ({ name, below: path === "" ? name : `${path}/${name}` }))
        .filter(({ name, below }) => isFit(below) && isSeen(name))
        .map(({ below }) => below),
    )
    .toSorted();
  const found: Attachment[] = [];
  for (const path of paths.slice(0, maxPatternFiles)) {
    options.signal.throwIfAborted();
    const file = await attachFile(options.files, `${place.path}/${path}`, { room, signal: options.signal });
    // One of many: what is no text, or leads elsewhere, was not asked for by name.
    if (file.type === "attached" || file.reason === "too-large") found.push(file);
  }
  const left = paths.length - maxPatternFiles;
  return left > 0
    ? [...found, refuseAttachment("too-large", `${pattern} means ${left} files more than a message holds.`)]
    : found;
};

const maxPatternFiles = 100;

const createMatcher = (pattern: string): ((path: string) => boolean) | undefined => {
  try {
    return createGlobMatcher(pattern);
  } catch (error) {
    if (error instanceof ToolFailure) return undefined;
    throw error;
  }
};
