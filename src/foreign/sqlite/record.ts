/** A value of a column. Blobs are bytes; whole numbers beyond 2^53 lose their last digits. */
export type SqlValue = string | number | Uint8Array | null;

/** Reads a variable-length integer; returns it and the place after it. Beyond the end of the bytes it is 0. */
export const readVarint = (bytes: Uint8Array, at: number): readonly [value: number, next: number] => {
  let value = 0;
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index] ?? 0;
    value = value * 128 + (byte & 127);
    if (byte < 128) return [value, at + index + 1];
  }
  return [value * 256 + (bytes[at + 8] ?? 0), at + 9];
};

/** Decodes the columns of a record, as far as their bytes are there. */
export const decodeRecord = (bytes: Uint8Array, encoding: "utf8" | "utf16le"): readonly SqlValue[] => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const [headerSize, first] = readVarint(bytes, 0);
  const values: SqlValue[] = [];
  let place = headerSize;
  for (let at = first; at < headerSize && at < bytes.length;) {
    const [type, next] = readVarint(bytes, at);
    const size = sizeOf(type);
    if (place + size > bytes.length) break;
    values.push(decodeValue(buffer, type, place, encoding));
    place += size;
    at = next;
  }
  return values;
};

const integerSizes = [0, 1, 2, 3, 4, 6, 8];

const sizeOf = (type: number): number => {
  if (type >= 12) return Math.floor((type - 12) / 2);
  return type === 7 ? 8 : (integerSizes[type] ?? 0);
};

const decodeValue = (buffer: Buffer, type: number, at: number, encoding: "utf8" | "utf16le"): SqlValue => {
  if (type >= 12) {
    const bytes = buffer.subarray(at, at + sizeOf(type));
    return type % 2 === 0 ? bytes : bytes.toString(encoding);
  }
  switch (type) {
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return buffer.readIntBE(at, integerSizes[type]!);
    case 6:
      return Number(buffer.readBigInt64BE(at));
    case 7:
      return buffer.readDoubleBE(at);
    case 8:
      return 0;
    case 9:
      return 1;
    default:
      return null;
  }
};
