import { crc32 } from "node:zlib";

/** A record in its frame: where it stands in the file, and its text. */
export type LogLine = {
  readonly sequence: number;
  readonly at: number;
  readonly checksum: string;
  /** Where the line's own bytes begin and end, without the line end. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
};

/** What a line is made of. `session` is the id in the session's head: another session's lines have other checksums. */
export type LogLineFields = {
  readonly session: string;
  readonly sequence: number;
  readonly at: number;
  readonly text: string;
};

/**
 * A record's line. It begins with a tab: JSON text without spaces holds no tab, so where one is found, a record
 * begins, even in the middle of what another program left on the line.
 */
export const encodeLine = ({ session, sequence, at, text }: LogLineFields): string => {
  const sum = computeChecksum({ session, sequence, at }, Buffer.from(text));
  return `\t{"sequence":${sequence},"at":${at},"bytes":${Buffer.byteLength(text)},"sum":"${sum}","record":${text}}\n`;
};

/** What stands on a stretch of bytes: records whose checksums are right, and the rest that is not just space. */
export type ParsedLine = { readonly lines: readonly LogLine[]; readonly junk: readonly ByteRange[] };

/** A part of a file, from a place up to another. */
export type ByteRange = { readonly start: number; readonly end: number };

/** Reads the bytes of one line of a file, which begin at `offset`. More than one record may be glued together there. */
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
  const marks = { sequence: Number(sequence), at: Number(time) };
  if (computeChecksum({ session, ...marks }, body) !== sum) return undefined;
  return { ...marks, checksum: sum, end: end + 1, text: body.toString() };
};

const computeChecksum = ({ session, sequence, at }: Omit<LogLineFields, "text">, body: Uint8Array): string =>
  crc32(body, crc32(`${session}:${sequence}:${at}:`))
    .toString(16)
    .padStart(8, "0");

const closingBrace = 0x7d;
const tab = 0x09;

/** The next place after `at` where a record may begin. */
const findNextTab = (bytes: Buffer, at: number): number => {
  const mark = bytes.indexOf(tab, at + 1);
  return mark === -1 ? bytes.length : skipSpace(bytes, mark);
};

/** Editors put spaces, line ends and a byte order mark where none were. */
const skipSpace = (bytes: Buffer, from: number): number => {
  let at = from;
  while (at < bytes.length && (isSpace(bytes[at]) || isByteOrderMark(bytes, at))) at += isSpace(bytes[at]) ? 1 : 3;
  return at;
};

const isSpace = (byte: number | undefined): boolean => byte === tab || byte === 0x20 || byte === 0x0d || byte === 0x0a;
const isByteOrderMark = (bytes: Buffer, at: number): boolean =>
  bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;

/** Adds what stands between two places, without the space behind it: the tab there belongs to the next record. */
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
