import type { FileHandle } from "../../world/disk.ts";
import { ForeignSessionError } from "../error.ts";

/** The pages of a SQLite file, with those in its write-ahead log in place of older ones. */
export type PageSource = {
  /** The bytes of a page that hold data. */
  readonly usable: number;
  readonly encoding: "utf8" | "utf16le";
  readonly read: (page: number) => Promise<Uint8Array>;
  /** Reads the rest of a record from the overflow pages named at `at`. */
  readonly readOverflow: (page: Uint8Array, at: number, head: Uint8Array, size: number) => Promise<Uint8Array>;
  /** Whether the file and its log are as they were when they were opened. */
  readonly isUnchanged: () => Promise<boolean>;
  readonly damaged: () => Error;
};

const headerBytes = 100;

/** Opens the pages of a SQLite file. Throws if it is not one. */
export const readPages = async (file: FileHandle, log: FileHandle | undefined): Promise<PageSource> => {
  const header = Buffer.from(await file.read(0, headerBytes));
  if (header.length < headerBytes || header.toString("latin1", 0, 16) !== "SQLite format 3\0") throw damaged();
  const declared = header.readUInt16BE(16);
  const size = declared === 1 ? 65_536 : declared;
  if (size < 512 || (size & (size - 1)) !== 0) throw damaged();
  const usable = size - header[20]!;
  const frames = log === undefined ? undefined : await readFrames(log, size);
  // Until the first checkpoint the file has the header of an empty database; the real one is in the log.
  const logged = frames?.places.get(1);
  const current = logged === undefined ? header : Buffer.from(await log!.read(logged, headerBytes));
  const encoding = current.length < headerBytes ? undefined : encodings[current.readUInt32BE(56)];
  if (encoding === undefined) throw damaged();
  const cache = new Map<number, Uint8Array>();
  const read = async (page: number): Promise<Uint8Array> => {
    const known = cache.get(page);
    if (known !== undefined) return known;
    const at = frames?.places.get(page);
    const bytes = at === undefined ? await file.read((page - 1) * size, size) : await log!.read(at, size);
    if (page < 1 || bytes.length < size) throw damaged();
    if (cache.size === maxCachedPages) cache.delete(cache.keys().next().value!);
    cache.set(page, bytes);
    return bytes;
  };
  return {
    usable,
    encoding,
    read,
    readOverflow: async (page, at, head, total) => {
      if (at + 4 > page.length) throw damaged();
      const pieces = [head];
      let next = Buffer.from(page.buffer, page.byteOffset, page.byteLength).readUInt32BE(at);
      for (let length = head.length; length < total;) {
        const bytes = Buffer.from(await read(next));
        const piece = bytes.subarray(4, 4 + Math.min(usable - 4, total - length));
        pieces.push(piece);
        length += piece.length;
        next = bytes.readUInt32BE(0);
      }
      return Buffer.concat(pieces);
    },
    isUnchanged: async () =>
      Buffer.from(await file.read(0, headerBytes)).equals(header) &&
      (log === undefined || (await readFrames(log, size)).mark === frames?.mark),
    damaged,
  };
};

const damaged = (): Error => new ForeignSessionError("The database is damaged, or not a SQLite file.");

/** 0 is a database without tables. */
const encodings: Readonly<Record<number, "utf8" | "utf16le">> = { 0: "utf8", 1: "utf8", 2: "utf16le" };

const maxCachedPages = 512;

/** Where the newest committed version of a page is in the log. `mark` changes with every commit. */
type LogFrames = { readonly places: ReadonlyMap<number, number>; readonly mark: string };

const logHeaderBytes = 32;
const frameHeaderBytes = 24;

/** Reads the write-ahead log up to the last commit. Frames of an earlier log, or with a wrong checksum, end it. */
const readFrames = async (log: FileHandle, pageSize: number): Promise<LogFrames> => {
  const header = Buffer.from(await log.read(0, logHeaderBytes));
  const places = new Map<number, number>();
  if (header.length < logHeaderBytes || header.readUInt32BE(8) !== pageSize) return { places, mark: "" };
  const magic = header.readUInt32BE(0);
  if (magic !== 0x377f0682 && magic !== 0x377f0683) return { places, mark: "" };
  const isBigEndian = magic === 0x377f0683;
  const salt = header.subarray(16, 24);
  const { size } = await log.stat();
  let sum = checksum(header.subarray(0, 24), isBigEndian, [0, 0]);
  let pending: [page: number, at: number][] = [];
  let mark = salt.toString("hex");
  const frameBytes = frameHeaderBytes + pageSize;
  for (let at = logHeaderBytes; at + frameBytes <= size; at += frameBytes) {
    const frame = Buffer.from(await log.read(at, frameBytes));
    if (frame.length < frameBytes || !frame.subarray(8, 16).equals(salt)) break;
    sum = checksum(frame.subarray(frameHeaderBytes), isBigEndian, checksum(frame.subarray(0, 8), isBigEndian, sum));
    if (frame.readUInt32BE(16) !== sum[0] || frame.readUInt32BE(20) !== sum[1]) break;
    pending.push([frame.readUInt32BE(0), at + frameHeaderBytes]);
    if (frame.readUInt32BE(4) === 0) continue;
    for (const [page, place] of pending) places.set(page, place);
    pending = [];
    mark = `${salt.toString("hex")} ${at} ${sum.join(" ")}`;
  }
  return { places, mark };
};

type Checksum = readonly [first: number, second: number];

const checksum = (bytes: Buffer, isBigEndian: boolean, start: Checksum): Checksum => {
  let [first, second] = start;
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    first = (first + (isBigEndian ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)) + second) >>> 0;
    second = (second + (isBigEndian ? bytes.readUInt32BE(at + 4) : bytes.readUInt32LE(at + 4)) + first) >>> 0;
  }
  return [first, second];
};
