import type { Disk } from "../world/disk.ts";
import type { EarlierPart, FileFormat, PathNames } from "./format.ts";
import { findFiles, readJsonDocument, readJsonLines, withFile, type FileRecords, type ReadOptions } from "./files.ts";
import type { ForeignRecord } from "./json.ts";
import { idOfPath, isDocument } from "./list.ts";

/** The records of a session, and whether the beginning is missing because the session it was forked from is. */
export type SessionRecords = FileRecords & { readonly isBeginningMissing: boolean };

/** A chain of forks longer than this has a circle, or is made to waste time. */
const maxForks = 50;

/** Reads the records of a session file; those of a fork after the part it shares with the sessions it was forked from. */
export const readSessionRecords = async (
  disk: Disk,
  base: string,
  format: FileFormat,
  path: PathNames,
  onProgress?: ReadOptions["onProgress"],
): Promise<SessionRecords> => {
  const read = await readRecords(disk, base, format, path, onProgress);
  let [first, ...rest] = read.records;
  let part = format.earlierPart?.(read.records);
  for (let forks = 0; part !== undefined; forks += 1) {
    const from = forks === maxForks ? undefined : await findPart(disk, base, format, part);
    if (from === undefined) break;
    rest = [...from.records, ...rest];
    part = from.part;
  }
  const records = first === undefined ? [] : [first, ...rest];
  return { ...read, records, isBeginningMissing: part !== undefined };
};

const findPart = async (
  disk: Disk,
  base: string,
  format: FileFormat,
  { id, isPart }: EarlierPart,
): Promise<{ readonly records: readonly ForeignRecord[]; readonly part: EarlierPart | undefined } | undefined> => {
  for (const pattern of format.files) {
    const { files } = await findFiles(disk, base, pattern);
    const file = files.find(({ path }) => idOfPath(format, path) === id);
    if (file === undefined) continue;
    const { records } = await readRecords(disk, base, format, file.path);
    return { records: records.filter(isPart), part: format.earlierPart?.(records) };
  }
  return undefined;
};

const readRecords = (
  disk: Disk,
  base: string,
  { skip }: FileFormat,
  path: PathNames,
  onProgress?: ReadOptions["onProgress"],
): Promise<FileRecords> =>
  withFile(disk, base, path, (file) =>
    isDocument(path) ? readJsonDocument(file) : readJsonLines(file, { skip, onProgress }),
  );
