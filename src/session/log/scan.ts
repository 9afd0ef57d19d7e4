import type { FileHandle } from "../../world/disk.ts";
import { parseLine, type LogLine, type ByteRange } from "./line.ts";
import type { CompactedTextFilter } from "./omit-compacted.ts";

/** Everything found in a file, in the order it stands there. */
export type LogScan = {
  /** The id all checksums were made with. */
  readonly session: string;
  readonly lines: readonly LogLine[];
  readonly junk: readonly ByteRange[];
  /** How many records share a line with another. */
  readonly sharedLines: number;
  readonly size: number;
  /** Whether the last line has its end. */
  readonly endsWithNewline: boolean;
  /** The format the file says it has. */
  readonly version: number | undefined;
  /** The highest number of a call among entries whose texts were left out; 0 where none were. */
  readonly highestOmittedCall: number;
};

/** Reads a file from a place to its end, piece by piece. `name` is the session's id as the file's name tells it. */
export const scanFile = async (
  file: Pick<FileHandle, "read">,
  name: string,
  from = 0,
  replaced?: CompactedTextFilter,
): Promise<LogScan> => {
  const scanner = new LogScanner(name, from, replaced);
  for (let at = from; ;) {
    const piece = await file.read(at, chunkBytes);
    scanner.add(piece);
    at += piece.length;
    if (piece.length < chunkBytes) return scanner.end();
  }
};

/** The same for bytes at hand. */
export const scanBytes = (bytes: Uint8Array, name: string): LogScan => {
  const scanner = new LogScanner(name, 0);
  scanner.add(bytes);
  return scanner.end();
};

const chunkBytes = 2 ** 20;
const newline = 0x0a;

class LogScanner {
  #session: string;
  #version: number | undefined;
  #rest: Buffer[] = [];
  #offset: number;
  #glued = 0;
  readonly #lines: LogLine[] = [];
  readonly #junk: ByteRange[] = [];

  readonly #replaced: CompactedTextFilter | undefined;

  constructor(name: string, from: number, replaced?: CompactedTextFilter) {
    this.#session = name;
    this.#offset = from;
    this.#replaced = replaced;
  }

  add(piece: Uint8Array): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
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
      highestOmittedCall: this.#replaced?.highestOmittedCall ?? 0,
    };
  }

  #line(bytes: Buffer): void {
    if (this.#offset === 0) this.#begin(bytes);
    const { lines, junk } = parseLine(bytes, this.#offset, this.#session);
    for (const line of lines) {
      this.#lines.push(line);
      this.#replaced?.add(this.#lines);
    }
    for (const stretch of junk) this.#addJunk(stretch);
    if (lines.length > 1) this.#glued += lines.length - 1;
    this.#offset += bytes.length;
  }

  /** A line that came in several pieces is put together once. */
  #restWith(last: Buffer): Buffer {
    if (this.#rest.length === 0) return last;
    const line = Buffer.concat([...this.#rest, last]);
    this.#rest = [];
    return line;
  }

  /** The head says which session this is, for files that were copied, and in which format. */
  #begin(bytes: Buffer): void {
    const start = bytes.toString("latin1", 0, 300);
    const version = /"kind":"head","version":(\d{1,9})/.exec(start)?.[1];
    const named = /"record":\{"kind":"head","version":\d+,"id":"([0-9a-z-]+)"/.exec(start)?.[1];
    const isSound = (id: string | undefined): id is string =>
      id !== undefined && parseLine(bytes, 0, id).lines.length > 0;
    if (isSound(named)) this.#session = named;
    // A damaged head says nothing: one flipped digit must not make a file of ours one of a later version.
    this.#version = version !== undefined && isSound(this.#session) ? Number(version) : undefined;
  }

  /** Junk on lines that follow each other is one stretch. */
  #addJunk(stretch: ByteRange): void {
    const last = this.#junk.at(-1);
    if (last !== undefined && last.end + 1 === stretch.start)
      this.#junk[this.#junk.length - 1] = { ...stretch, start: last.start };
    else this.#junk.push(stretch);
  }
}
