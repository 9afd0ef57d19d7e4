import type { Blobs, Entry, ToolDeclaration } from "../conversation/entry.ts";
import type { FileHandle, Folder } from "../world/disk.ts";
import { loadBlobs } from "./store/blobs.ts";
import { assembleContent, type SessionContent, type RecordedModelInputs } from "./log/content.ts";
import { SessionError } from "./error.ts";
import type { SessionDamage } from "./repair/damage.ts";
import { createFallbackHead } from "./repair/apply.ts";
import { planRepair, type RepairPlan } from "./repair/plan.ts";
import { formatVersion, type SessionHead, type RecordedModel } from "./log/record.ts";
import type { CompactedTextFilter } from "./log/omit-compacted.ts";
import { scanFile, type LogScan } from "./log/scan.ts";

/** Everything a session's file says. */
export type SavedSession = {
  readonly id: string;
  readonly head: SessionHead;
  /** As they were when the session was read or opened. */
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
  readonly title?: string;
  /** The model and tools the session was last used with. */
  readonly model?: RecordedModel;
  readonly tools?: readonly ToolDeclaration[];
  /** The kinds of files that were sent to a model, by provider/model, where that was found out. */
  readonly inputs?: RecordedModelInputs;
  /** What was wrong. A session that was opened is healed; one that was only read is as it was. */
  readonly damage: readonly SessionDamage[];
  /** The size of its file in bytes. */
  readonly size: number;
  /** When it was last written, in milliseconds since 1970. */
  readonly modified: number;
};

/** A session's file, read and understood, before anything is done about it. */
export type ParsedSessionFile = { readonly scan: LogScan; readonly plan: RepairPlan; readonly content: SessionContent };

/** Reads a file. Refuses what a newer version wrote, and, unless told otherwise, what holds nothing that can be read. */
export const readSessionFile = async (
  file: FileHandle,
  { id, path, allowUnreadable: anything = false }: ReadSessionOptions,
  replaced?: CompactedTextFilter,
): Promise<ParsedSessionFile> => {
  const scan = await scanFile(file, id, 0, replaced);
  if (scan.version !== undefined && scan.version > formatVersion)
    throw new SessionError({ kind: "too-new", id, version: scan.version });
  if (scan.lines.length === 0 && scan.junk.length > 0 && !anything)
    throw new SessionError({ kind: "unreadable", id, path });
  const mended = planRepair(scan);
  return { scan, plan: mended, content: assembleContent(mended.lines) };
};

export type ReadSessionOptions = {
  readonly id: string;
  readonly path: string;
  /** Takes a file in which not one record is right. */
  readonly allowUnreadable?: boolean;
};

/** A reading as others see it, with the bytes of its media. */
export const loadSavedSession = async (
  { scan, plan: mended, content }: ParsedSessionFile,
  { id, folder, modified }: { readonly id: string; readonly folder: Folder; readonly modified: number },
): Promise<SavedSession> => {
  const { head = createFallbackHead(scan.session), entries, title, model, tools, inputs } = content;
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
    damage: [...mended.damage, ...missing],
    size: scan.size,
    modified,
  };
};
