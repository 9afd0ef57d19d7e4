import { open, stat } from "node:fs/promises";
import { exchangeRowOf, parseExchange, type ExchangeRow } from "../data/exchanges.ts";
import { inspectExchanges } from "../data/inspected.ts";
import type { ExchangeRecord } from "../../wire/exchange.ts";
import type { InspectionSource } from "./inspection.ts";

/** Returns whether a file begins with a line of an exchange log. */
export const isExchangeLog = async (path: string): Promise<boolean> => {
  for await (const { text } of readLines(path, 0)) return parseLine(text) !== undefined;
  return false;
};

/** Opens an exchange log. It is followed while it grows: only new lines are read, and bodies when they are looked at. */
export const openExchangeLog = (path: string, name: string): InspectionSource => {
  let known: KnownLines = { end: 0, invalid: 0, rows: [], places: [] };
  const readNew = async (): Promise<KnownLines> => {
    const { size } = await stat(path);
    // A shorter file was written anew.
    const from = size < known.end ? { end: 0, invalid: 0, rows: [], places: [] } : known;
    const [rows, places] = [[...from.rows], [...from.places]];
    let { end, invalid } = from;
    for await (const { text, start, length, isComplete } of readLines(path, end)) {
      const record = parseLine(text);
      // The last line may still be in the middle of being written.
      if (record === undefined && !isComplete) break;
      end = start + length;
      if (record === undefined) invalid += text.trim() === "" ? 0 : 1;
      else {
        rows.push(exchangeRowOf(record, rows.length + 1));
        places.push({ start, length });
      }
    }
    return { end, invalid, rows, places };
  };
  return {
    revision: async () => {
      const { size, mtimeMs } = await stat(path);
      return `${size}-${mtimeMs}`;
    },
    load: async () => {
      known = await readNew();
      const { rows, places, invalid } = known;
      const read = async (number: number): Promise<ExchangeRecord | undefined> => {
        const place = places[number - 1];
        return place === undefined ? undefined : parseLine(await readRange(path, place));
      };
      return inspectExchanges({ rows, invalid, read }, name);
    },
  };
};

type LinePlace = { readonly start: number; readonly length: number };

/** The lines read so far. */
type KnownLines = {
  readonly end: number;
  readonly invalid: number;
  readonly rows: readonly ExchangeRow[];
  readonly places: readonly LinePlace[];
};

type FileLine = LinePlace & {
  readonly text: string;
  /** Whether it ends in a newline. */ readonly isComplete: boolean;
};

const chunkBytes = 2 ** 20;
/** Longer lines are left out: V8 strings end at 512 MB. */
const maxLineBytes = 2 ** 28;

const readLines = async function* (path: string, from: number): AsyncGenerator<FileLine> {
  const file = await open(path);
  try {
    let pieces: Buffer[] = [];
    let start = from;
    let length = 0;
    const line = (isComplete: boolean): FileLine => ({
      text: length > maxLineBytes ? "too long" : Buffer.concat(pieces).toString("utf8"),
      start,
      length,
      isComplete,
    });
    const keep = (bytes: Buffer): void => {
      length += bytes.length;
      if (length <= maxLineBytes) pieces.push(bytes);
    };
    for (let at = from; ;) {
      const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(chunkBytes), 0, chunkBytes, at);
      if (bytesRead === 0) break;
      at += bytesRead;
      let rest = buffer.subarray(0, bytesRead);
      for (let end = rest.indexOf(10); end !== -1; end = rest.indexOf(10)) {
        keep(rest.subarray(0, end + 1));
        yield line(true);
        start += length;
        length = 0;
        pieces = [];
        rest = rest.subarray(end + 1);
      }
      keep(rest);
    }
    if (length > 0) yield line(false);
  } finally {
    await file.close();
  }
};

const readRange = async (path: string, { start, length }: LinePlace): Promise<string> => {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, start);
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await file.close();
  }
};

const parseLine = (text: string): ExchangeRecord | undefined => {
  try {
    return parseExchange(JSON.parse(text));
  } catch {
    return undefined;
  }
};
