import type { Blobs, Entry } from "../conversation/entry.ts";
import type { AppendHandle, Folder } from "../world/disk.ts";
import type { Clock } from "../world/world.ts";
import { heal } from "./heal.ts";
import { readFile, savedFrom, type FileFacts, type Reading, type Saved } from "./load.ts";
import { Log, type Draft } from "./log.ts";
import type { NewRecord, Written } from "./record.ts";
import { ReplacedTexts } from "./replaced-texts.ts";

/** A session somebody works in. Nobody else can write to it until it is closed. */
export type Session = Saved & {
  /** The highest number of a call among entries that a summary replaced, which are empty notices in `entries`. */
  readonly ordinal: number;
  /** All records in the file, from the disk. */
  readonly records: () => AsyncIterable<Written>;
  /**
   * Resolves when the disk has confirmed the records; until then, none of them may be relied on. Order is kept.
   * `written` is called when there is nothing left to do but to wait for the disk.
   */
  readonly write: (records: readonly NewRecord[], written?: () => void) => Promise<void>;
  /** Keeps bytes that records written from now on may name. */
  readonly keep: (blobs: Blobs) => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Where a session lies, and what it needs to be written. */
export type Desk = {
  readonly id: string;
  readonly name: string;
  readonly folder: Folder;
  readonly clock: Clock;
  readonly records: () => AsyncIterable<Written>;
  /** Takes a file in which not one record is right. */
  readonly anything?: boolean;
};

/** Opens a session for writing, and heals it if it needs that. The desk's folder stays open until the session is closed. */
export const startSession = async (desk: Desk): Promise<Session> => {
  const { file, reading, findings } = await whole(desk);
  const { id, folder, name, clock } = desk;
  try {
    const { modified } = await file.look();
    const saved = await savedFrom(reading, { id, folder, modified });
    const { scan, mended, content } = reading;
    const log = new Log({
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
      ordinal: scan.ordinal,
      healed: [...findings, ...saved.healed],
      records: desk.records,
      write: (records, written) => log.add({ drafts: records.map(draftOf), written }),
      keep: (blobs) => log.add({ blobs }),
      close: () => log.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
};

/** What a record looks like on its way into the log. */
export const draftOf = (record: NewRecord): Draft =>
  record.kind === "entry" ? { entry: JSON.stringify(record.entry) } : { record: JSON.stringify(record) };

type Whole = {
  readonly file: AppendHandle;
  readonly reading: Reading;
  readonly findings: Reading["mended"]["findings"];
};

/** A file without fault: as it was, or as it is once it was healed and read again. */
const whole = async (desk: Desk): Promise<Whole> => {
  const { id, name, folder, clock, anything = false } = desk;
  const path = `${folder.path}/${name}`;
  const first = await openAndRead(folder, name, { id, path, anything });
  const { file, reading } = first;
  const { mended, content, scan } = reading;
  if (mended.cure.type === "none") return { ...first, findings: [] };
  try {
    await heal({ folder, name, file, session: scan.session, mended, content, at: Math.floor(clock.now()) });
  } finally {
    await file.close();
  }
  return { ...(await openAndRead(folder, name, { id, path })), findings: mended.findings };
};

/** Reads what going on needs; all of it where something is wrong, or where a summary parts a call from its result. */
const openAndRead = async (folder: Folder, name: string, facts: FileFacts): Promise<Omit<Whole, "findings">> => {
  const file = await folder.append(name);
  try {
    const reading = await readFile(file, facts, new ReplacedTexts());
    const isEnough = reading.mended.cure.type === "none" && !hasPartedCall(reading.content.entries);
    return { file, reading: isEnough ? reading : await readFile(file, facts) };
  } catch (error) {
    await file.close();
    throw error;
  }
};

const hasPartedCall = (entries: readonly Entry[]): boolean => {
  const calls = new Set(
    entries.flatMap((entry) =>
      entry.type === "model" ? entry.parts.flatMap((part) => (part.type === "call" ? [part.id] : [])) : [],
    ),
  );
  return entries.some((entry) => entry.type === "completion" && !calls.has(entry.call));
};
