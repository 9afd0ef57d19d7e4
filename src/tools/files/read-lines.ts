import { isUtf8 } from "node:buffer";
import { dropHalfSurrogates } from "../result/truncate.ts";
import type { OpenedFile } from "../capabilities.ts";

/** Some lines of a text. */
export type TextLines = {
  /** The lines with "\n" between them. */
  readonly text: string;
  /** The number of lines. */
  readonly count: number;
  /** The first of them, counted from 0; negative where only the distance from the end is known. */
  readonly first: number;
  /** The number of lines of the whole text; undefined where the file was too long to read to its end. */
  readonly total: number | undefined;
  /** Whether a line was longer than `maxLineLength` and was cut. */
  readonly hasCutLines: boolean;
  /** Whether the last line of the file is included and ends with a newline. */
  readonly endsWithNewline: boolean;
};

/** The lines to read. A negative `offset` counts from the end. */
export type LineReadRange = {
  readonly offset: number;
  readonly limit: number;
  /** Longer lines are cut. */
  readonly maxLineLength: number;
  /** Reading stops after this many characters, whatever the limit. */
  readonly maxCharacters: number;
  readonly encoding: string;
  readonly signal: AbortSignal;
};

const chunkLength = 2 ** 20;

/** Files up to this size are read at once. */
const wholeReadLimit = 2 ** 18;

/** Files longer than this are not read to their end only to count lines. */
const maxCountedLength = 2 ** 28;

/** Maximum bytes of a tail. */
const maxTailLength = 2 ** 25;

/** Reads some lines of a file of any size, with little memory. */
export const readLines = async (file: OpenedFile, range: LineReadRange): Promise<TextLines> => {
  if (range.offset >= 0) return readFromStart(file, range);
  const { start, isWhole } = range.encoding.startsWith("utf-16") ? fromTop : await findTailStart(file, range);
  const { line: count } = await collectLines(file, { ...range, limit: 0 }, { start, isCounted: true });
  const skipped = Math.max(0, count + range.offset);
  const taker = await collectLines(file, { ...range, offset: skipped }, { start, isCounted: true });
  const lines = taker.result(skipped);
  return start === 0
    ? lines
    : { ...lines, first: skipped - count, total: undefined, hasCutLines: lines.hasCutLines || !isWhole };
};

const readFromStart = async (file: OpenedFile, range: LineReadRange): Promise<TextLines> => {
  const { size } = file.place;
  if (range.offset === 0 && size <= wholeReadLimit) {
    range.signal.throwIfAborted();
    const bytes = await file.read(0, size);
    const lines = bytes.length === size ? readWholeText(decodeText(bytes, range.encoding), range) : undefined;
    if (lines !== undefined) return lines;
  }
  const taker = await collectLines(file, range, { start: 0, isCounted: file.place.size <= maxCountedLength });
  return taker.result(range.offset);
};

/** Decodes as a stream: in one call, Node takes Windows-1252 for Latin-1. Valid UTF-8 is decoded without a decoder. */
const decodeText = (bytes: Uint8Array, encoding: string): string => {
  if (encoding === "utf-8" && isUtf8(bytes))
    return withoutMark(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString());
  const decoder = new TextDecoder(encoding);
  return decoder.decode(bytes, { stream: true }) + decoder.decode();
};

const withoutMark = (text: string): string => (text.startsWith("\ufeff") ? text.slice(1) : text);

/** All lines of a text where nothing has to be left out or cut: the usual case, and ten times as fast. */
const readWholeText = (text: string, { limit, maxLineLength, maxCharacters }: LineReadRange): TextLines | undefined => {
  if (text.length >= maxCharacters || text.includes("\r")) return undefined;
  let count = 0;
  for (let start = 0; start < text.length; count++) {
    const newline = text.indexOf("\n", start);
    const end = newline === -1 ? text.length : newline;
    if (count === limit || end - start > maxLineLength) return undefined;
    start = end + 1;
  }
  const endsWithNewline = text.endsWith("\n");
  return {
    text: endsWithNewline ? text.slice(0, -1) : text,
    count,
    first: 0,
    total: count,
    hasCutLines: false,
    endsWithNewline,
  };
};

/** Collects lines from an offset on: to the end of the file where they are counted, else until there are enough. */
const collectLines = async (
  { place: { size }, read }: OpenedFile,
  range: LineReadRange,
  { start, isCounted }: { readonly start: number; readonly isCounted: boolean },
): Promise<LineCollector> => {
  const taker = new LineCollector(range);
  const decoder = new TextDecoder(range.encoding);
  let begun: number | undefined;
  for (let at = start; at < size;) {
    range.signal.throwIfAborted();
    const bytes = await read(at, Math.min(chunkLength, size - at));
    if (bytes.length === 0) break;
    at += bytes.length;
    taker.add(decoder.decode(bytes, { stream: true }));
    if (taker.line >= range.offset) begun ??= at;
    // A single line may be longer than the limit.
    const isEnough = taker.isFull || (begun !== undefined && at - begun >= maxCountedLength);
    if (!isCounted && isEnough && at < size) {
      taker.end(false);
      return taker;
    }
  }
  taker.add(decoder.decode());
  taker.end(true);
  return taker;
};

/** Splits streamed text into lines and keeps those in range. */
class LineCollector {
  readonly #range: LineReadRange;
  readonly #lines: string[] = [];
  /** The number of completed lines. */
  line = 0;
  #characters = 0;
  #open = "";
  #isOpen = false;
  #cut = false;
  #isFull = false;
  #isAll = false;

  constructor(range: LineReadRange) {
    this.#range = range;
  }

  get isFull(): boolean {
    return this.#isFull || this.#lines.length >= this.#range.limit;
  }

  add(text: string): void {
    let from = 0;
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#grow(text, from, end);
      this.#close();
      from = end + 1;
    }
    if (from < text.length) this.#grow(text, from, text.length);
  }

  /** Ends the input; `isAll` if the end of the file was reached. */
  end(isAll: boolean): void {
    this.#isAll = isAll;
    if (!this.#isOpen) return;
    this.#close();
    this.#isOpen = true;
  }

  result(first: number): TextLines {
    const isLast = this.#isAll && first + this.#lines.length === this.line;
    return {
      text: this.#lines.join("\n"),
      count: this.#lines.length,
      first,
      total: this.#isAll ? this.line : undefined,
      hasCutLines: this.#cut,
      endsWithNewline: isLast && !this.#isOpen && this.#lines.length > 0,
    };
  }

  /** Nothing is kept of a line out of range, or beyond the length limit. */
  #grow(text: string, from: number, to: number): void {
    this.#isOpen = true;
    if (this.line < this.#range.offset || this.isFull) return;
    const room = this.#range.maxLineLength + 2 - this.#open.length;
    if (room > 0) this.#open += text.slice(from, Math.min(to, from + room));
  }

  #close(): void {
    if (this.line >= this.#range.offset && !this.isFull) this.#take(this.#open);
    this.#open = "";
    this.#isOpen = false;
    this.line += 1;
  }

  #take(open: string): void {
    const bare = open.endsWith("\r") ? open.slice(0, -1) : open;
    const isLong = bare.length > this.#range.maxLineLength;
    const line = isLong ? `${dropHalfSurrogates(bare.slice(0, this.#range.maxLineLength))}... [truncated]` : bare;
    this.#characters += line.length + 1;
    if (this.#characters > this.#range.maxCharacters && this.#lines.length > 0) {
      this.#isFull = true;
      return;
    }
    this.#cut ||= isLong;
    this.#lines.push(line);
  }
}

/** An offset to read from, and whether a line begins there. */
type TailStart = { readonly start: number; readonly isWhole: boolean };

const fromTop: TailStart = { start: 0, isWhole: true };

/**
 * Finds the start of the last lines by searching backwards for line feeds. Only for encodings in which a line feed is
 * the byte 10.
 */
const findTailStart = async (
  { place: { size }, read }: OpenedFile,
  { offset, signal }: LineReadRange,
): Promise<TailStart> => {
  const wanted = -offset;
  let found = 0;
  let start = size;
  while (start > 0 && size - start < maxTailLength) {
    signal.throwIfAborted();
    const length = Math.min(chunkLength, start);
    const bytes = Buffer.from(await read(start - length, length));
    start -= length;
    for (let at = bytes.lastIndexOf(10); at !== -1; at = at === 0 ? -1 : bytes.lastIndexOf(10, at - 1)) {
      // The newline at the end of the file begins no line.
      if (start + at === size - 1) continue;
      found += 1;
      if (found === wanted) return { start: start + at + 1, isWhole: true };
    }
  }
  return { start, isWhole: start === 0 };
};
