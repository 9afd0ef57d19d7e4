import type { RequestFile } from "./model/types.ts";

/** Estimates the tokens of a text: one for every four bytes. */
export const countTextTokens = (text: string): number => Math.ceil(Buffer.byteLength(text) / 4);

/**
 * Measures a file: tokens, bytes and, for images, the size in its header. A file given by URL has no `base64` and costs
 * a flat rate.
 */
export const measureFile = (file: {
  readonly kind: RequestFile["kind"];
  readonly mimeType: string;
  readonly base64: string;
}): { readonly tokens: number; readonly bytes: number; readonly width?: number; readonly height?: number } => {
  const data = Buffer.from(file.base64, "base64");
  const bytes = data.length;
  switch (file.kind) {
    case "image": {
      const size = readPixelSize(data);
      if (size === undefined) return { tokens: 258, bytes };
      return { tokens: Math.max(85, Math.ceil((size.width * size.height) / 750)), bytes, ...size };
    }
    case "document":
      return { tokens: file.mimeType === "application/pdf" ? 1500 * countPages(data) : Math.ceil(bytes / 4), bytes };
    case "audio":
      return { tokens: Math.max(32, Math.ceil(bytes / 500)), bytes };
    case "video":
      return { tokens: Math.max(64, Math.ceil(bytes / 300)), bytes };
  }
};

const countPages = (data: Buffer): number =>
  Math.max(1, data.toString("latin1").match(/\/Type\s*\/Page(?![A-Za-z])/g)?.length ?? 0);

type FilePixels = { readonly width: number; readonly height: number };

const readPixelSize = (data: Buffer): FilePixels | undefined => {
  if (data.length >= 24 && data.toString("latin1", 1, 4) === "PNG")
    return { width: data.readUInt32BE(16), height: data.readUInt32BE(20) };
  if (data.length >= 10 && data.toString("latin1", 0, 3) === "GIF")
    return { width: data.readUInt16LE(6), height: data.readUInt16LE(8) };
  if (data.length >= 30 && data.toString("latin1", 8, 12) === "WEBP") return readWebpSize(data);
  return data.length >= 4 && data.readUInt16BE(0) === 0xffd8 ? readJpegSize(data) : undefined;
};

const readWebpSize = (data: Buffer): FilePixels | undefined => {
  switch (data.toString("latin1", 12, 16)) {
    case "VP8 ":
      return { width: data.readUInt16LE(26) & 0x3fff, height: data.readUInt16LE(28) & 0x3fff };
    case "VP8L": {
      const bits = data.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >> 14) & 0x3fff) + 1 };
    }
    case "VP8X":
      return { width: data.readUIntLE(24, 3) + 1, height: data.readUIntLE(27, 3) + 1 };
    default:
      return undefined;
  }
};

/** Walks the segments to the frame header, which follows any thumbnail. */
const readJpegSize = (data: Buffer): FilePixels | undefined => {
  for (let at = 2; at + 9 <= data.length && data[at] === 0xff; at += 2 + data.readUInt16BE(at + 2)) {
    const marker = data[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return { height: data.readUInt16BE(at + 5), width: data.readUInt16BE(at + 7) };
  }
  return undefined;
};
