import type { ExchangeRecord } from "../wire/exchange.ts";

/** Appends text to the log, and replaces it by a new one when it is full. */
type LogFile = {
  readonly append: (text: string) => void;
  /** The bytes it already has. */
  readonly size?: number;
  /** Moves the full log aside. */
  readonly rotate: () => void;
};

/** Options of an exchange log. */
export type ExchangeLogOptions = {
  readonly file: LogFile;
  readonly redact: (text: string) => string;
  /** Bytes of the log before it is moved aside. */
  readonly maxBytes?: number;
};

/**
 * Creates a log of exchanges: one JSON line each, with secrets redacted and very long texts cut. Two files are kept at
 * most, so that the log does not fill the disk.
 */
export const createExchangeLog = ({
  file,
  redact,
  maxBytes = 64 * 2 ** 20,
}: ExchangeLogOptions): ((record: ExchangeRecord) => void) => {
  let size = file.size ?? 0;
  return (record) => {
    const line = `${JSON.stringify(record, (_, value: unknown) => (typeof value === "string" ? redact(cutText(value)) : value))}\n`;
    const bytes = Buffer.byteLength(line);
    if (size > 0 && size + bytes > maxBytes) {
      file.rotate();
      size = 0;
    }
    file.append(line);
    size += bytes;
  };
};

/** The longest text that is kept whole: images and long files are cut. */
const maxText = 256 * 1024;

const cutText = (text: string): string =>
  text.length <= maxText ? text : `${text.slice(0, maxText)}... (${text.length - maxText} more characters)`;
