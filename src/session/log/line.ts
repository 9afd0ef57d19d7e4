import { crc32 } from "node:zlib";

/** A framed record: its position in the file, and its text. */
export type LogLine = {
  readonly sequence: number;
  readonly at: number;
  readonly checksum: string;
  /** The byte range of the line, without the newline. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** The fields of a line. `session` is the id in the session's head; it is part of the checksum, so lines of another session do not match. */
export type LogLineFields = {
  readonly session: string;
  readonly sequence: number;
  readonly at: number;
  readonly text: string;
};

/**
 * Encodes a record as a line. It begins with a tab: JSON without spaces contains no tab, so every tab is the start of a
 * record, even after bytes another program left on the line.
 */
export const encodeLine = (fields: LogLineFields): string =>
  frameRecord({ ...fields, checksum: computeChecksum(fields, Buffer.from(fields.text)) });

/** Encodes a record whose checksum is known. */
export const frameRecord = ({
  sequence,
  at,
  checksum,
  text,
}: Pick<LogLine, "sequence" | "at" | "checksum" | "text">): string =>
  `\t{"sequence":${sequence},"at":${at},"bytes":${Buffer.byteLength(text)},"sum":"${checksum}","record":${text}}\n`;

/** The records with valid checksums on a line, and all other bytes that are not white space. */
export type ParsedLine = { readonly lines: readonly LogLine[]; readonly junk: readonly ByteRange[] };

/** A byte range of a file; `end` is exclusive. */
export type ByteRange = { readonly start: number; readonly end: number };

/** Parses one line of a file that begins at `offset`. A line can hold several records. */
export const parseLine = (bytes: Buffer, offset: number, session: string): ParsedLine => {
  const lines: LogLine[] = [];
  const junk: ByteRange[] = [];
  let covered = 0;
  for (let at = skipSpace(bytes, 0); at < bytes.length;) {
    const found = parseFrame(bytes, at, session);
    if (found === undefined) {
      at = findNextTab(bytes, at);
      continue;
    }
    pushJunk(junk, bytes, { start: covered, end: at, offset });
    lines.push({ ...found, start: at + offset, end: found.end + offset });
    covered = found.end;
    at = skipSpace(bytes, covered);
  }
  pushJunk(junk, bytes, { start: covered, end: bytes.length, offset });
  return { lines, junk };
};

const frame = /^\{"sequence":(\d{1,15}),"at":(\d{1,15}),"bytes":(\d{1,15}),"sum":"([0-9a-f]{8})","record":/;
const maxFrameLength = 110;

const parseFrame = (bytes: Buffer, at: number, session: string): Omit<LogLine, "start"> | undefined => {
  const match = frame.exec(bytes.toString("latin1", at, at + maxFrameLength));
  if (match === null) return undefined;
  const [whole, sequence, time, length, sum = ""] = match;
  const start = at + whole.length;
  const end = start + Number(length);
  if (end >= bytes.length || bytes[end] !== closingBrace) return undefined;
  const body = bytes.subarray(start, end);
  const position = { sequence: Number(sequence), at: Number(time) };
  if (computeChecksum({ session, ...position }, body) !== sum) return undefined;
  return { ...position, checksum: sum, end: end + 1, text: body.toString() };
};

/** The checksum of a record and its position, as eight hexadecimal digits. */
export const computeChecksum = ({ session, sequence, at }: Omit<LogLineFields, "text">, body: Uint8Array): string =>
  crc32(body, crc32(`${session}:${sequence}:${at}:`))
    .toString(16)
    .padStart(8, "0");

const closingBrace = 0x7d;
const tab = 0x09;

/** The next offset after `at` where a record can begin. */
const findNextTab = (bytes: Buffer, at: number): number => {
  const mark = bytes.indexOf(tab, at + 1);
  return mark === -1 ? bytes.length : skipSpace(bytes, mark);
};

/** Skips spaces, line ends and byte order marks, which editors add. */
const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from;
  while (at < bytes.length && (isSpace(bytes[at]) || isByteOrderMark(bytes, at))) at += isSpace(bytes[at]) ? 1 : 3;
  return at;
};

const isSpace = (byte: number | undefined): boolean => byte === tab || byte === 0x20 || byte === 0x0d || byte === 0x0a;
const isByteOrderMark = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;

/** Adds a range, without trailing white space: the tab there belongs to the next record. */
const pushJunk = (
  junk: ByteRange[],
  bytes: Buffer,
  { start, end, offset }: ByteRange & { readonly offset: number },
): void => {
  if (skipSpace(bytes.subarray(0, end), start) >= end) return;
  let to = end;
  while (isSpace(bytes[to - 1])) to -= 1;
  junk.push({ start: start + offset, end: to + offset });
};
