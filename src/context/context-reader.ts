import { basename, dirname } from "node:path";
import { PolicyError } from "../policy/error.ts";
import { openMemory } from "../policy/memory.ts";
import { isInside } from "../policy/paths.ts";
import { plain } from "../policy/plain.ts";
import type { Workspace } from "../policy/workspace.ts";
import { wholeLetters } from "../tools/bounded.ts";
import { sniff } from "../tools/sniff.ts";
import type { Disk } from "../world/disk.ts";
import type { ContextNoteKind } from "./context-note.ts";

/** A context file as it was read: its real path, and its text made plain. */
export type ReadText = {
  readonly path: string;
  readonly text: string;
  /** Whether the file goes on. */
  readonly isCut: boolean;
  /** Whether characters that cannot be seen were in it. */
  readonly hadUnseen: boolean;
};

/** Opens a file by its absolute path. */
export type ReadContextFile = (path: string) => Promise<ReadText | ContextNoteKind>;

/** As much of one file as is read. */
const mostBytes = 40_000;

/** Reads files of the project: inside the given workspaces, the first that knows the path, and not what ignore files keep from models. */
export const projectReader =
  (workspaces: readonly Pick<Workspace, "open" | "ignored">[]): ReadContextFile =>
  async (path) => {
    for (const [index, files] of workspaces.entries()) {
      try {
        return await readFrom(files, path);
      } catch (error) {
        const kind = meaning(error);
        if (kind !== "outside" || index === workspaces.length - 1) return kind;
      }
    }
    return "outside";
  };

/** Reads the person's own files, whatever links lead there; only those that really are in a folder, if one is given. */
export const personReader =
  (disk: Disk, within?: string): ReadContextFile =>
  async (path) => {
    try {
      const real = await disk.canonical(path);
      if (real === undefined) return "absent";
      if (within !== undefined && !isInside(real, within)) return "outside";
      const folder = await disk.open(dirname(real));
      try {
        const file = await folder.file(basename(real));
        try {
          return await asText(real, await file.read(0, mostBytes + 1));
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

/** Reads what was remembered; undefined where nothing was. */
export const readMemory = async (disk: Disk, home: string): Promise<ReadText | ContextNoteKind | undefined> => {
  try {
    const folder = await disk.canonical(home);
    if (folder === undefined) return undefined;
    const memory = openMemory(disk, folder);
    const text = await memory.read();
    return text === undefined ? undefined : await asText(memory.path, Buffer.from(text).subarray(0, mostBytes + 1));
  } catch {
    return "unreadable";
  }
};

const readFrom = async (
  files: Pick<Workspace, "open" | "ignored">,
  path: string,
): Promise<ReadText | ContextNoteKind> => {
  const file = await files.open(path);
  try {
    for (const name of new Set([path, file.place.path]))
      if ((await files.ignored(name, { git: false, own: true })) !== undefined) return "kept";
    return await asText(file.place.path, await file.read(0, mostBytes + 1));
  } finally {
    await file.close();
  }
};

const meaning = (error: unknown): ContextNoteKind => {
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

/** Text with nothing hidden in it, to the end of a line where it is cut. */
const asText = async (path: string, bytes: Uint8Array): Promise<ReadText | ContextNoteKind> => {
  const what = await sniff(bytes, path);
  if (what.kind !== "text") return "not-text";
  const isCut = bytes.length > mostBytes;
  const decoded = new TextDecoder(what.encoding).decode(bytes.subarray(0, mostBytes), { stream: isCut });
  const written = decoded.replaceAll("\r\n", "\n");
  const text = plain(written);
  return { path, text: isCut ? wholeLines(text) : text, isCut, hadUnseen: text !== written };
};

/** A text that was cut, without what is left of its last line; where that is most of it, without half a letter at its end. */
export const wholeLines = (text: string): string => {
  const end = text.lastIndexOf("\n");
  return end > text.length / 2 ? text.slice(0, end) : wholeLetters(text);
};
