import type { FileHandle } from "../../world/disk.ts";
import { parseLine, type LogLine, type ByteRange } from "./line.ts";
import type { CompactedTextFilter } from "./omit-compacted.ts";

/** Everything found in a log file, in file order. */
export type LogScan = {
  /** The id the checksums include. */
  readonly session: string;
  readonly lines: readonly LogLine[];
  readonly junk: readonly ByteRange[];
  /** The number of records that share a line with another. */
  readonly sharedLines: number;
  readonly size: number;
  /** Whether the file ends with a newline. */
  readonly endsWithNewline: boolean;
  /** The format version in the head. */
  readonly version: number | undefined;
  /** The highest tool-call number among entries whose text was omitted; 0 if none was. */
  readonly highestOmittedCall: number;
};

/** Scans a file from an offset to its end, in chunks. `name` is the session id in the file's name. */
export const scanFile = async (
  file: Pick<FileHandle, "read">,
  name: string,
  from = 0,
  compactedTexts?: CompactedTextFilter,
): Promise<LogScan> => {
  const scanner = new LogScanner(name, from, compactedTexts);
  for (let at = from, length = firstChunkBytes; ; length = chunkBytes) {
    const chunk = await file.read(at, length);
    scanner.add(chunk);
    at += chunk.length;
    if (chunk.length < length) return scanner.end();
  }
};

/** Scans bytes in memory. */
export const scanBytes = (bytes: Uint8Array, name: string): LogScan => {
  const scanner = new LogScanner(name, 0);
  scanner.add(bytes);
  return scanner.end();
};

const chunkBytes = 2 ** 20;
/** A new session is smaller, and is read without the thread pool. */
const firstChunkBytes = 2 ** 16;
const newline = 0x0a;

class LogScanner {
  #session: string;
  #version: number | undefined;
  #rest: Buffer[] = [];
  #offset: number;
  #glued = 0;
  readonly #lines: LogLine[] = [];
  readonly #junk: ByteRange[] = [];

  readonly #compactedTexts: CompactedTextFilter | undefined;

  constructor(name: string, from: number, compactedTexts?: CompactedTextFilter) {
    this.#session = name;
    this.#offset = from;
    this.#compactedTexts = compactedTexts;
  }

  add(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let start = 0;
    for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
      this.#line(this.#restWith(bytes.subarray(start, end)));
      this.#offset += 1;
      start = end + 1;
    }
    if (start < bytes.length) this.#rest.push(bytes.subarray(start));
  }

  end(): LogScan {
    const isEnded = this.#rest.length === 0;
    if (!isEnded) this.#line(this.#restWith(Buffer.alloc(0)));
    return {
      session: this.#session,
      lines: this.#lines,
      junk: this.#junk,
      sharedLines: this.#glued,
      size: this.#offset,
      endsWithNewline: isEnded,
      version: this.#version,
      highestOmittedCall: this.#compactedTexts?.highestOmittedCall ?? 0,
    };
  }

  #line(bytes: Buffer): void {
    if (this.#offset === 0) this.#begin(bytes);
    const { lines, junk } = parseLine(bytes, this.#offset, this.#session);
    for (const line of lines) {
      this.#lines.push(line);
      this.#compactedTexts?.add(this.#lines);
    }
    for (const range of junk) this.#addJunk(range);
    if (lines.length > 1) this.#glued += lines.length - 1;
    this.#offset += bytes.length;
  }

  /** Joins a line that spans several chunks. */
  #restWith(last: Buffer): Buffer {
    if (this.#rest.length === 0) return last;
    const line = Buffer.concat([...this.#rest, last]);
    this.#rest = [];
    return line;
  }

  /** Reads session id and format version from the head; the id can differ from the file's name after a copy. */
  #begin(bytes: Buffer): void {
    const start = bytes.toString("latin1", 0, 300);
    const version = /"kind":"head","version":(\d{1,9})/.exec(start)?.[1];
    const named = /"record":\{"kind":"head","version":\d+,"id":"([0-9a-z-]+)"/.exec(start)?.[1];
    const isSound = (id: string | undefined): id is string =>
      id !== undefined && parseLine(bytes, 0, id).lines.length > 0;
    if (isSound(named)) this.#session = named;
    // The version of a damaged head is ignored: one flipped digit must not make the file look like a newer format.
    this.#version = version !== undefined && isSound(this.#session) ? Number(version) : undefined;
  }

  /** Merges junk on consecutive lines into one range. */
  #addJunk(range: ByteRange): void {
    const last = this.#junk.at(-1);
    if (last !== undefined && last.end + 1 === range.start)
      this.#junk[this.#junk.length - 1] = { ...range, start: last.start };
    else this.#junk.push(range);
  }
}
