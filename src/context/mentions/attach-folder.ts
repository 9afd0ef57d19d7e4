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

/** Attaches the names in a folder and below it. `@folder/**` attaches the contents. */
export const attachFolder = async ({ path, shown }: ResolvedPath, options: AttachOptions): Promise<Attachment> => {
  const ignoredBy = await options.files.ignored(path, { git: false, own: true });
  if (ignoredBy !== undefined)
    return refuseAttachment("ignored", `${escapeName(shown)} is excluded from models by ${ignoredBy}.`);
  const found = await scanWorkspace({ ...options, folder: path });
  const tree = formatTree(found);
  const words = `--- ${escapeName(shown)} (folder) ---\n${tree === "" ? "(nothing)" : tree}\n`;
  const isCut = found.folders.some(({ skipped: closed }) => closed === "limit");
  return {
    type: "attached",
    path,
    shown: shown === "" ? "." : shown,
    kind: "folder",
    parts: [text(words)],
    blobs: [],
    isCut,
  };
};

/** Attaches the files that match a pattern, in path order, within the budget; without those git ignores. */
export const attachPattern = async (
  pattern: string,
  options: AttachOptions,
  budget: AttachmentBudget,
): Promise<readonly Attachment[]> => {
  const { folder, rest } = splitGlob(pattern);
  const matches = createMatcher(rest);
  const place = matches === undefined ? undefined : await options.files.resolve(folder || ".");
  if (matches === undefined || place?.kind !== "folder") return [];
  const { folders } = await scanWorkspace({ ...options, folder: place.path, maxFolders: 2000 });
  const paths = folders
    .flatMap(({ path, files, isVisible }) =>
      files
        .map((name) => ({ name, below: path === "" ? name : `${path}/${name}` }))
        .filter(({ name, below }) => matches(below) && isVisible(name))
        .map(({ below }) => below),
    )
    .toSorted();
  const found: Attachment[] = [];
  for (const path of paths.slice(0, maxPatternFiles)) {
    options.signal.throwIfAborted();
    const file = await attachFile(options.files, `${place.path}/${path}`, { budget, signal: options.signal });
    // Other refusals are not reported: the file was not named itself.
    if (file.type === "attached" || file.reason === "too-large") found.push(file);
  }
  const left = paths.length - maxPatternFiles;
  return left > 0
    ? [...found, refuseAttachment("too-large", `${pattern} matches ${left} more files than one message can hold.`)]
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
