import type { FileHandle } from "../world/disk.ts";
import { frameRecord } from "../session/log/line.ts";
import { runStatement, type SqlDatabase, type Row } from "./database.ts";

/** A session of a tenant. */
export type SessionKey = { readonly tenant: string; readonly id: string };

/** A stored record, with the number of the ownership it was written under. */
export type RecordRow = {
  readonly sequence: number;
  readonly fence: number;
  readonly at: number;
  readonly checksum: string;
  readonly text: string;
};

/** Reads a row of the record table. */
const readRecordRow = (row: Row): RecordRow => ({
  sequence: Number(row["sequence"]),
  fence: Number(row["fence"]),
  at: Number(row["at"]),
  checksum: decodeChecksum(Number(row["sum"])),
  text: String(row["body"]),
});

/** A checksum as the signed number PostgreSQL stores. */
export const encodeChecksum = (checksum: string): number => Number.parseInt(checksum, 16) | 0;

const decodeChecksum = (sum: number): string => (sum >>> 0).toString(16).padStart(8, "0");

const pageRows = 256;

/** Reads the records of a session in order, in pages. */
export const readRecordRows = async function* (
  database: SqlDatabase,
  { tenant, id }: SessionKey,
  after = 0,
): AsyncGenerator<RecordRow> {
  for (let last = after; ;) {
    const rows = await runStatement(
      database,
      "select sequence, fence, at, sum, body from parley.record where tenant = $1 and session = $2 and sequence > $3 order by sequence limit $4",
      [tenant, id, last, pageRows],
    );
    for (const row of rows) {
      const record = readRecordRow(row);
      last = record.sequence;
      yield record;
    }
    if (rows.length < pageRows) return;
  }
};

/** Reads a session as the lines of the file that the file store would have written. */
export const exportLines = async function* (database: SqlDatabase, key: SessionKey): AsyncGenerator<string> {
  for await (const row of readRecordRows(database, key)) yield frameRecord(row);
};

/** A session as a file that can be read once from its beginning to its end, and then again. */
export const openRecordFile = (database: SqlDatabase, key: SessionKey): Pick<FileHandle, "read"> => {
  let lines: AsyncGenerator<string> | undefined;
  let position = 0;
  let rest: Buffer = Buffer.alloc(0);
  return {
    read: async (at, length) => {
      if (at === 0) {
        lines = exportLines(database, key);
        position = 0;
        rest = Buffer.alloc(0);
      }
      if (lines === undefined || at !== position) throw new Error("The records of a session are read in order.");
      const chunks = [rest];
      let size = rest.length;
      while (size < length) {
        const next = await lines.next();
        if (next.done === true) break;
        const chunk = Buffer.from(next.value);
        chunks.push(chunk);
        size += chunk.length;
      }
      const bytes = Buffer.concat(chunks);
      rest = bytes.subarray(length);
      position += Math.min(length, bytes.length);
      return bytes.subarray(0, length);
    },
  };
};
