import type { Blobs, Entry, ToolDeclaration } from "../conversation/entry.ts";
import type { CallId } from "../conversation/parts.ts";
import type { TodoItem } from "../conversation/todo.ts";
import type { FileHandle } from "../world/disk.ts";
import { assembleContent, type NotBegun, type SessionContent, type RecordedModelInputs } from "./log/content.ts";
import { SessionError } from "./error.ts";
import type { SessionDamage } from "./repair/damage.ts";
import { createFallbackHead } from "./repair/apply.ts";
import { planRepair, type RepairPlan } from "./repair/plan.ts";
import { formatVersion, type ConsentRecord, type SessionHead, type RecordedModel } from "./log/record.ts";
import type { CompactedTextFilter } from "./log/omit-compacted.ts";
import { scanFile, type LogScan } from "./log/scan.ts";

/** The contents of a session file. */
export type SavedSession = {
  readonly id: string;
  readonly head: SessionHead;
  /** The entries at the time the session was read or opened. */
  readonly entries: readonly Entry[];
  readonly blobs: Blobs;
  readonly title?: string;
  /** The model and tools last used. */
  readonly model?: RecordedModel;
  readonly tools?: readonly ToolDeclaration[];
  /** The media kinds each model accepts, by provider/model, where settings or its server declared them. */
  readonly inputs?: RecordedModelInputs;
  /** The to-do list of the model, if it keeps one. */
  readonly todos?: readonly TodoItem[];
  /** The calls that have not begun: they were asked about, without a decision to run them. */
  readonly notBegun?: ReadonlyMap<CallId, NotBegun>;
  /** The permission rules the person added or took back for the session, in order. */
  readonly consents?: readonly ConsentRecord[];
  /** The damage found. It is repaired in a session that was opened for writing, but not in one that was only read. */
  readonly damage: readonly SessionDamage[];
  /** The size of its file in bytes. */
  readonly size: number;
  /** The time of the last write, in milliseconds since 1970. */
  readonly modified: number;
};

/** A parsed session file, before any repair. */
export type ParsedSessionFile = { readonly scan: LogScan; readonly plan: RepairPlan; readonly content: SessionContent };

/** Parses a session file. Refuses a newer format and, unless `allowUnreadable` is set, a file without one readable record. */
export const readSessionFile = async (
  file: Pick<FileHandle, "read">,
  { id, path, allowUnreadable = false }: ReadSessionOptions,
  compactedTexts?: CompactedTextFilter,
): Promise<ParsedSessionFile> => {
  const scan = await scanFile(file, id, 0, compactedTexts);
  if (scan.version !== undefined && scan.version > formatVersion)
    throw new SessionError({ kind: "too-new", id, version: scan.version });
  if (scan.lines.length === 0 && scan.junk.length > 0 && !allowUnreadable)
    throw new SessionError({ kind: "unreadable", id, path });
  const plan = planRepair(scan);
  return { scan, plan, content: assembleContent(plan.lines) };
};

export type ReadSessionOptions = {
  readonly id: string;
  readonly path: string;
  /** Accepts a file without one readable record. */
  readonly allowUnreadable?: boolean;
};

/** The facts of a session that are not in its file. */
type SavedSessionFacts = {
  readonly id: string;
  readonly modified: number;
  readonly loadBlobs: (
    entries: readonly Entry[],
  ) => Promise<{ readonly blobs: Blobs; readonly missing: readonly SessionDamage[] }>;
};

/** Loads the blobs of a parsed file and returns its contents. */
export const loadSavedSession = async (
  { scan, plan, content }: ParsedSessionFile,
  { id, modified, loadBlobs }: SavedSessionFacts,
): Promise<SavedSession> => {
  const {
    head = createFallbackHead(scan.session),
    entries,
    title,
    model,
    tools,
    inputs,
    todos,
    notBegun,
    consents,
  } = content;
  const { blobs, missing } = await loadBlobs(entries);
  return {
    id,
    head,
    entries,
    blobs,
    ...(title === undefined ? {} : { title }),
    ...(model === undefined ? {} : { model }),
    ...(tools === undefined ? {} : { tools }),
    ...(inputs === undefined ? {} : { inputs }),
    ...(todos === undefined ? {} : { todos }),
    ...(notBegun === undefined ? {} : { notBegun }),
    ...(consents === undefined ? {} : { consents }),
    damage: [...plan.damage, ...missing],
    size: scan.size,
    modified,
  };
};
