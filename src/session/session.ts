import type { Blobs, Entry } from "../conversation/entry.ts";
import type { AppendHandle, Folder } from "../world/disk.ts";
import type { Clock } from "../world/world.ts";
import { repairFile } from "./repair/apply.ts";
import {
  readSessionFile,
  loadSavedSession,
  type ReadSessionOptions,
  type ParsedSessionFile,
  type SavedSession,
} from "./load.ts";
import { SessionLog, type RecordDraft } from "./log/log.ts";
import type { NewRecord, StoredRecord } from "./log/record.ts";
import { CompactedTextFilter } from "./log/omit-compacted.ts";

/** A session somebody works in. Nobody else can write to it until it is closed. */
export type Session = SavedSession & {
  /** The highest number of a call among entries that a summary replaced, which are empty notices in `entries`. */
  readonly highestOmittedCall: number;
  /** All records in the file, from the disk. */
  readonly records: () => AsyncIterable<StoredRecord>;
  /**
   * Resolves when the disk has confirmed the records; until then, none of them may be relied on. Order is kept.
   * `written` is called when there is nothing left to do but to wait for the disk.
   */
  readonly append: (records: readonly NewRecord[], written?: () => void) => Promise<void>;
  /** Keeps bytes that records written from now on may name. */
  readonly storeBlobs: (blobs: Blobs) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Where a session lies, and what it needs to be written. */
export type SessionFileContext = {
  readonly id: string;
  readonly name: string;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly records: () => AsyncIterable<StoredRecord>;
  /** Takes a file in which not one record is right. */
  readonly allowUnreadable?: boolean;
};

/** Opens a session for writing, and heals it if it needs that. The desk's folder stays open until the session is closed. */
export const openSessionFile = async (desk: SessionFileContext): Promise<Session> => {
  const { file, parsed: reading, damage: findings } = await openRepaired(desk);
  const { id, folder, name, clock } = desk;
  try {
    const { modified } = await file.stat();
    const saved = await loadSavedSession(reading, { id, folder, modified });
    const { scan, plan: mended, content } = reading;
    const log = new SessionLog({
      id,
      session: scan.session,
      folder,
      name,
      file,
      clock,
      size: scan.size,
      sequence: mended.lines.at(-1)?.sequence ?? 0,
      entries: content.entries.length,
    });
    return {
      ...saved,
      highestOmittedCall: scan.highestOmittedCall,
      damage: [...findings, ...saved.damage],
      records: desk.records,
      append: (records, written) => log.append({ drafts: records.map(draftRecord), onWritten: written }),
      storeBlobs: (blobs) => log.append({ blobs }),
      close: () => log.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** What a record looks like on its way into the log. */
export const draftRecord = (record: NewRecord): RecordDraft =>
  record.kind === "entry" ? { entry: JSON.stringify(record.entry) } : { record: JSON.stringify(record) };

type OpenedSessionFile = {
  readonly file: AppendHandle;
  readonly parsed: ParsedSessionFile;
  readonly damage: ParsedSessionFile["plan"]["damage"];
};

/** A file without fault: as it was, or as it is once it was healed and read again. */
const openRepaired = async (desk: SessionFileContext): Promise<OpenedSessionFile> => {
  const { id, name, folder, clock, allowUnreadable: anything = false } = desk;
  const path = `${folder.path}/${name}`;
  const first = await openAndRead(folder, name, { id, path, allowUnreadable: anything });
  const { file, parsed: reading } = first;
  const { plan: mended, content, scan } = reading;
  if (mended.action.type === "none") return { ...first, damage: [] };
  try {
    await repairFile({ folder, name, file, session: scan.session, plan: mended, content, at: Math.floor(clock.now()) });
  } finally {
    await file.close();
  }
  return { ...(await openAndRead(folder, name, { id, path })), damage: mended.damage };
};

/** Reads what going on needs; all of it where something is wrong, or where a summary parts a call from its result. */
const openAndRead = async (
  folder: Folder,
  name: string,
  facts: ReadSessionOptions,
): Promise<Omit<OpenedSessionFile, "damage">> => {
  const file = await folder.openAppend(name);
  try {
    const reading = await readSessionFile(file, facts, new CompactedTextFilter());
    const isEnough = reading.plan.action.type === "none" && !hasResultWithoutCall(reading.content.entries);
    return { file, parsed: isEnough ? reading : await readSessionFile(file, facts) };
  } catch (error) {
    await file.close();
    throw error;
  }
};

const hasResultWithoutCall = (entries: readonly Entry[]): boolean => {
  const calls = new Set(
    entries.flatMap((entry) =>
      entry.type === "model" ? entry.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) : [],
    ),
  );
  return entries.some((entry) => entry.type === "completion" && !calls.has(entry.call));
};
