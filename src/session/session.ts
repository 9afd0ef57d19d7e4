import type { Blobs, Entry } from "../conversation/entry.ts";
import type { AppendHandle, FileHandle, Folder } from "../world/disk.ts";
import type { Clock } from "../world/world.ts";
import { repairFile } from "./repair/apply.ts";
import {
  readSessionFile,
  loadSavedSession,
  type ReadSessionOptions,
  type ParsedSessionFile,
  type SavedSession,
} from "./load.ts";
import { loadBlobs } from "./store/blobs.ts";
import { SessionLog, type RecordDraft } from "./log/log.ts";
import type { NewRecord, StoredRecord } from "./log/record.ts";
import { CompactedTextFilter } from "./log/omit-compacted.ts";

/** A session opened for writing. It holds the session lock until it is closed. */
export type Session = SavedSession & {
  /** The highest tool-call number among entries replaced by a compaction; those are empty notices in `entries`. */
  readonly highestOmittedCall: number;
  /** Reads all records of the file from disk. */
  readonly records: () => AsyncIterable<StoredRecord>;
  /**
   * Appends records in order and resolves once they are durable. `onWritten` is called when they are in the file and only
   * the flush is pending.
   */
  readonly append: (records: readonly NewRecord[], onWritten?: () => void) => Promise<void>;
  /** Stores bytes that later records may refer to. */
  readonly storeBlobs: (blobs: Blobs) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** A session file, and everything needed to write it. */
export type SessionFileContext = {
  readonly id: string;
  readonly name: string;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly records: () => AsyncIterable<StoredRecord>;
  /** Accepts a file without one readable record. */
  readonly allowUnreadable?: boolean;
};

/** Opens a session file for writing and repairs it if it is damaged. The folder stays open until the session is closed. */
export const openSessionFile = async (context: SessionFileContext): Promise<Session> => {
  const { file, parsed, damage } = await openRepaired(context);
  const { id, folder, name, clock } = context;
  try {
    const { modified } = await file.stat();
    const saved = await loadSavedSession(parsed, {
      id,
      modified,
      loadBlobs: (entries) => loadBlobs(folder, entries),
    });
    const { scan, plan, content } = parsed;
    const log = new SessionLog({
      id,
      session: scan.session,
      folder,
      name,
      file,
      clock,
      size: scan.size,
      sequence: plan.lines.at(-1)?.sequence ?? 0,
      entries: content.entries.length,
    });
    return {
      ...saved,
      highestOmittedCall: scan.highestOmittedCall,
      damage: [...damage, ...saved.damage],
      records: context.records,
      append: (records, onWritten) => log.append({ drafts: records.map(draftRecord), onWritten }),
      storeBlobs: (blobs) => log.append({ blobs }),
      close: () => log.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** Converts a record to the form the log writer takes. */
export const draftRecord = (record: NewRecord): RecordDraft =>
  record.kind === "entry" ? { entry: JSON.stringify(record.entry) } : { record: JSON.stringify(record) };

type OpenedSessionFile = {
  readonly file: AppendHandle;
  readonly parsed: ParsedSessionFile;
  readonly damage: ParsedSessionFile["plan"]["damage"];
};

/** Opens a file; if it is damaged, repairs it and reads it again. */
const openRepaired = async (context: SessionFileContext): Promise<OpenedSessionFile> => {
  const { id, name, folder, clock, allowUnreadable = false } = context;
  const path = `${folder.path}/${name}`;
  const first = await openAndRead(folder, name, { id, path, allowUnreadable });
  const { file, parsed } = first;
  const { plan, content, scan } = parsed;
  if (plan.action.type === "none") return { ...first, damage: [] };
  try {
    await repairFile({ folder, name, file, session: scan.session, plan, content, at: Math.floor(clock.now()) });
  } finally {
    await file.close();
  }
  return { ...(await openAndRead(folder, name, { id, path })), damage: plan.damage };
};

const openAndRead = async (
  folder: Folder,
  name: string,
  options: ReadSessionOptions,
): Promise<Omit<OpenedSessionFile, "damage">> => {
  const file = await folder.openAppend(name);
  try {
    return { file, parsed: await readWithoutCompacted(file, options) };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/**
 * Reads a file without texts that a compaction replaced. Reads all of it if it is damaged, or if the compaction separated
 * a tool call from its result.
 */
export const readWithoutCompacted = async (
  file: Pick<FileHandle, "read">,
  options: ReadSessionOptions,
): Promise<ParsedSessionFile> => {
  const parsed = await readSessionFile(file, options, new CompactedTextFilter());
  const isEnough = parsed.plan.action.type === "none" && !hasResultWithoutCall(parsed.content.entries);
  return isEnough ? parsed : readSessionFile(file, options);
};

const hasResultWithoutCall = (entries: readonly Entry[]): boolean => {
  const calls = new Set(
    entries.flatMap((entry) =>
      entry.type === "model" ? entry.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) : [],
    ),
  );
  return entries.some((entry) => entry.type === "completion" && !calls.has(entry.call));
};
