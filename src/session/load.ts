import type { Blobs, Entry, ToolDeclaration } from "../conversation/entry.ts";
import type { FileHandle, Folder } from "../world/disk.ts";
import { loadBlobs } from "./blobs.ts";
import { contentOf, type Content, type ModelInputs } from "./content.ts";
import { SessionError } from "./error.ts";
import type { Finding } from "./finding.ts";
import { recoveredHead } from "./heal.ts";
import { mend, type Mended } from "./mend.ts";
import { formatVersion, type Head, type ModelName } from "./record.ts";
import type { ReplacedTexts } from "./replaced-texts.ts";
import { scanFile, type Scan } from "./scan.ts";

/** Everything a session's file says. */
export type Saved = {
  readonly id: string;
  readonly head: Head;
  /** As they were when the session was read or opened. */
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
  readonly title?: string;
  /** The model and tools the session was last used with. */
  readonly model?: ModelName;
  readonly tools?: readonly ToolDeclaration[];
  /** The kinds of files that were sent to a model, by provider/model, where that was found out. */
  readonly inputs?: ModelInputs;
  /** What was wrong. A session that was opened is healed; one that was only read is as it was. */
  readonly healed: readonly Finding[];
  /** The size of its file in bytes. */
  readonly size: number;
  /** When it was last written, in milliseconds since 1970. */
  readonly modified: number;
};

/** A session's file, read and understood, before anything is done about it. */
export type Reading = { readonly scan: Scan; readonly mended: Mended; readonly content: Content };

/** Reads a file. Refuses what a newer version wrote, and, unless told otherwise, what holds nothing that can be read. */
export const readFile = async (
  file: FileHandle,
  { id, path, anything = false }: FileFacts,
  replaced?: ReplacedTexts,
): Promise<Reading> => {
  const scan = await scanFile(file, id, 0, replaced);
  if (scan.version !== undefined && scan.version > formatVersion)
    throw new SessionError({ kind: "too-new", id, version: scan.version });
  if (scan.lines.length === 0 && scan.junk.length > 0 && !anything)
    throw new SessionError({ kind: "unreadable", id, path });
  const mended = mend(scan);
  return { scan, mended, content: contentOf(mended.lines) };
};

export type FileFacts = {
  readonly id: string;
  readonly path: string;
  /** Takes a file in which not one record is right. */
  readonly anything?: boolean;
};

/** A reading as others see it, with the bytes of its media. */
export const savedFrom = async (
  { scan, mended, content }: Reading,
  { id, folder, modified }: { readonly id: string; readonly folder: Folder; readonly modified: number },
): Promise<Saved> => {
  const { head = recoveredHead(scan.session), entries, title, model, tools, inputs } = content;
  const { blobs, missing } = await loadBlobs(folder, entries);
  return {
    id,
    head,
    entries,
    blobs,
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(inputs === undefined ? {} : { inputs }),
    healed: [...mended.findings, ...missing],
    size: scan.size,
    modified,
  };
};
