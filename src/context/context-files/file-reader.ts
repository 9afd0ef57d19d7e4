import { basename, dirname } from "node:path";
import { PolicyError } from "../../policy/error.ts";
import { openMemory } from "../../policy/memory.ts";
import { isInside } from "../../policy/workspace/paths.ts";
import { sanitizeForTerminal } from "../../policy/terminal/sanitize.ts";
import type { Workspace } from "../../policy/workspace/open.ts";
import { dropHalfSurrogates } from "../../tools/result/truncate.ts";
import { sniffContentType } from "../../tools/files/sniff.ts";
import type { Disk } from "../../world/disk.ts";
import type { ContextNoteKind } from "./note.ts";

/** A context file: its canonical path and sanitized text. */
export type ReadContextText = {
  readonly path: string;
  readonly text: string;
  /** Whether the text was cut. */
  readonly isCut: boolean;
  /** Whether it contained invisible characters. */
  readonly hadInvisible: boolean;
};

/** Reads a file by its absolute path. */
export type ReadContextFile = (path: string) => Promise<ReadContextText | ContextNoteKind>;

/** The most bytes read of one file. */
const maxBytes = 40_000;

/** Reads project files from the first workspace that contains the path, without ignored files. */
export const createProjectReader =
  (workspaces: readonly Pick<Workspace, "open" | "ignored">[]): ReadContextFile =>
  async (path) => {
    for (const [index, files] of workspaces.entries()) {
      try {
        return await readFrom(files, path);
      } catch (error) {
        const kind = classifyError(error);
        if (kind !== "outside" || index === workspaces.length - 1) return kind;
      }
    }
    return "outside";
  };

/** Reads the user's own files, following links; with `within`, only files inside that folder. */
export const createPersonalReader =
  (disk: Disk, within?: string): ReadContextFile =>
  async (path) => {
    try {
      const real = await disk.canonicalPath(path);
      if (real === undefined) return "absent";
      if (within !== undefined && !isInside(real, within)) return "outside";
      const folder = await disk.openFolder(dirname(real));
      try {
        const file = await folder.openFile(basename(real));
        try {
          return await decodeText(real, await file.read(0, maxBytes + 1));
        } finally {
          await file.close();
        }
      } finally {
        await folder.close();
      }
    } catch {
      return "unreadable";
    }
  };

/** Reads the memory file; undefined if there is none. */
export const readMemory = async (disk: Disk, home: string): Promise<ReadContextText | ContextNoteKind | undefined> => {
  try {
    const folder = await disk.canonicalPath(home);
    if (folder === undefined) return undefined;
    const memory = openMemory(disk, folder);
    const text = await memory.read();
    return text === undefined ? undefined : await decodeText(memory.path, Buffer.from(text).subarray(0, maxBytes + 1));
  } catch {
    return "unreadable";
  }
};

const readFrom = async (
  files: Pick<Workspace, "open" | "ignored">,
  path: string,
): Promise<ReadContextText | ContextNoteKind> => {
  const file = await files.open(path);
  try {
    for (const name of new Set([path, file.place.path]))
      if ((await files.ignored(name, { git: false, own: true })) !== undefined) return "ignored";
    return await decodeText(file.place.path, await file.read(0, maxBytes + 1));
  } finally {
    await file.close();
  }
};

const classifyError = (error: unknown): ContextNoteKind => {
  if (!(error instanceof PolicyError)) throw error;
  switch (error.type) {
    case "path_not_in_workspace":
      return "outside";
    case "file_not_found":
    case "path_is_not_a_directory":
    case "target_is_directory":
      return "absent";
    default:
      return "unreadable";
  }
};

/** Decodes and sanitizes text; a cut ends at a line end. */
const decodeText = async (path: string, bytes: Uint8Array): Promise<ReadContextText | ContextNoteKind> => {
  const what = await sniffContentType(bytes, path);
  if (what.kind !== "text") return "not-text";
  const isCut = bytes.length > maxBytes;
  const decoded = new TextDecoder(what.encoding).decode(bytes.subarray(0, maxBytes), { stream: isCut });
  const written = decoded.replaceAll("\r\n", "\n");
  const text = sanitizeForTerminal(written);
  return { path, text: isCut ? cutToWholeLines(text) : text, isCut, hadInvisible: text !== written };
};

/** Removes the incomplete last line of a cut text, unless that is most of it; then only half a surrogate pair. */
export const cutToWholeLines = (text: string): string => {
  const end = text.lastIndexOf("\n");
  return end > text.length / 2 ? text.slice(0, end) : dropHalfSurrogates(text);
};
