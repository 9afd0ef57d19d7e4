import { inflate } from "node:zlib";

/** An image by rows, four bytes per pixel (RGBA). All rows share one buffer. */
export type PixelRows = { readonly width: number; readonly height: number; readonly rows: Iterable<Uint8Array> };

/** Pixel limit: larger images take too long. */
const maxPixels = 2 ** 23;

/** Decodes a PNG; undefined for other data and for a broken, oversized or interlaced file. */
export const readPng = async (bytes: Uint8Array): Promise<PixelRows | undefined> => {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (file.length < 33 || !file.subarray(0, 8).equals(signature)) return undefined;
  const [header, ...others] = chunksOf(file);
  if (header?.type !== "IHDR" || header.data.length !== 13) return undefined;
  const form = readHeader(header.data, others);
  if (form === undefined) return undefined;
  const data = Buffer.concat(others.flatMap((each) => (each.type === "IDAT" ? [each.data] : [])));
  const size = (1 + strideOf(form)) * form.height;
  const raw = await inflateWithin(data, size);
  if (raw?.length !== size) return undefined;
  return { width: form.width, height: form.height, rows: rowsOf(raw, form) };
};

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

type PngChunk = { readonly type: string; readonly data: Buffer };

const chunksOf = (file: Buffer): readonly PngChunk[] => {
  const chunks: PngChunk[] = [];
  for (let at = 8; at + 12 <= file.length;) {
    const length = file.readUInt32BE(at);
    if (at + 12 + length > file.length) break;
    chunks.push({ type: file.toString("latin1", at + 4, at + 8), data: file.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return chunks;
};

type PngHeader = {
  readonly width: number;
  readonly height: number;
  readonly depth: number;
  readonly colourType: PngColourType;
  readonly palette: Buffer;
  /** Alpha values of the palette. */
  readonly alphas: Buffer;
};

/** Colour types by their PNG number. */
type PngColourType = "gray" | "colour" | "index" | "gray-opacity" | "colour-opacity";

const colourTypes: Readonly<Record<number, { readonly kind: PngColourType; readonly depths: readonly number[] }>> = {
  0: { kind: "gray", depths: [1, 2, 4, 8, 16] },
  2: { kind: "colour", depths: [8, 16] },
  3: { kind: "index", depths: [1, 2, 4, 8] },
  4: { kind: "gray-opacity", depths: [8, 16] },
  6: { kind: "colour-opacity", depths: [8, 16] },
};

const samplesOf: Readonly<Record<PngColourType, number>> = {
  gray: 1,
  colour: 3,
  index: 1,
  "gray-opacity": 2,
  "colour-opacity": 4,
};

const readHeader = (header: Buffer, chunks: readonly PngChunk[]): PngHeader | undefined => {
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [depth = 0, colour = 0, compression, filter, interlacing] = header.subarray(8);
  const known = colourTypes[colour];
  const isPlain = compression === 0 && filter === 0 && interlacing === 0;
  if (known === undefined || !known.depths.includes(depth) || !isPlain) return undefined;
  if (width === 0 || height === 0 || width * height > maxPixels) return undefined;
  const named = (type: string): Buffer => chunks.find((each) => each.type === type)?.data ?? Buffer.alloc(0);
  return { width, height, depth, colourType: known.kind, palette: named("PLTE"), alphas: named("tRNS") };
};

/** Bytes per pixel (at least one) and per row. */
const pixelBytes = ({ colourType, depth }: PngHeader): number => Math.max(1, (samplesOf[colourType] * depth) >> 3);
const strideOf = ({ colourType, depth, width }: PngHeader): number =>
  Math.ceil((samplesOf[colourType] * depth * width) / 8);

/** Inflates data up to a limit: a small file may expand to gigabytes. */
const inflateWithin = (data: Buffer, most: number): Promise<Buffer | undefined> =>
  new Promise((resolve) => {
    inflate(data, { maxOutputLength: most }, (error, raw) => resolve(error === null ? raw : undefined));
  });

function* rowsOf(raw: Buffer, form: PngHeader): Generator<Uint8Array> {
  const stride = strideOf(form);
  const pixels = new Uint8Array(form.width * 4);
  let before: Uint8Array = new Uint8Array(stride);
  for (let row = 0; row < form.height; row++) {
    const at = row * (stride + 1);
    const bytes = raw.subarray(at + 1, at + 1 + stride);
    unfilter(raw[at] ?? 0, { bytes, before, back: pixelBytes(form) });
    writePixels(pixels, bytes, form);
    yield pixels;
    before = bytes;
  }
}

/** Reverses the filter of a row in place, from the pixel on the left and the row above. */
const unfilter = (
  filter: number,
  { bytes, before, back }: { readonly bytes: Uint8Array; readonly before: Uint8Array; readonly back: number },
): void => {
  if (filter === 0) return;
  for (let at = 0; at < bytes.length; at++) {
    const left = at < back ? 0 : (bytes[at - back] ?? 0);
    const above = before[at] ?? 0;
    const corner = at < back ? 0 : (before[at - back] ?? 0);
    bytes[at] = (bytes[at] ?? 0) + predict(filter, left, above, corner);
  }
};

const predict = (filter: number, left: number, above: number, corner: number): number => {
  if (filter === 1) return left;
  if (filter === 2) return above;
  if (filter === 3) return (left + above) >> 1;
  const toLeft = Math.abs(above - corner);
  const toAbove = Math.abs(left - corner);
  const toCorner = Math.abs(left + above - 2 * corner);
  if (toLeft <= toAbove && toLeft <= toCorner) return left;
  return toAbove <= toCorner ? above : corner;
};

/** Converts a row to RGBA. */
const writePixels = (pixels: Uint8Array, bytes: Uint8Array, form: PngHeader): void => {
  const { width, depth, colourType, palette, alphas } = form;
  const each = samplesOf[colourType];
  const scale = colourType === "index" ? 1 : 255 / (2 ** Math.min(depth, 8) - 1);
  // Offsets of green and blue from red, and of alpha if there is one.
  const [toGreen, toBlue] = each < 3 ? [0, 0] : [1, 2];
  const toOpacity = each % 2 === 0 ? each - 1 : undefined;
  for (let x = 0, to = 0; x < width; x++, to += 4) {
    const from = x * each;
    const first = sampleAt(bytes, from, depth) * scale;
    const isIndex = colourType === "index";
    pixels[to] = isIndex ? (palette[first * 3] ?? 0) : first;
    pixels[to + 1] = isIndex ? (palette[first * 3 + 1] ?? 0) : sampleAt(bytes, from + toGreen, depth) * scale;
    pixels[to + 2] = isIndex ? (palette[first * 3 + 2] ?? 0) : sampleAt(bytes, from + toBlue, depth) * scale;
    pixels[to + 3] = isIndex ? (alphas[first] ?? 255) : 255;
    if (toOpacity !== undefined) pixels[to + 3] = sampleAt(bytes, from + toOpacity, depth) * scale;
  }
};

/** The upper eight of sixteen bits; fewer bits as they are. */
const sampleAt = (bytes: Uint8Array, at: number, depth: number): number => {
  if (depth >= 8) return bytes[at * (depth >> 3)] ?? 0;
  const bit = at * depth;
  return ((bytes[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & (2 ** depth - 1);
};
