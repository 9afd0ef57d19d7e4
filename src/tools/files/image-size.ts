/** Reads the size of an image in pixels from its header; empty where the header has none. */
export const readImageSize = (
  args: Uint8Array,
  mimeType: string,
): { readonly width?: number; readonly height?: number } => {
  const bytes = Buffer.from(args.buffer, args.byteOffset, args.length);
  const size = bytes.length < 30 ? undefined : readers[mimeType]?.(bytes);
  return size === undefined || size[0] === 0 || size[1] === 0 ? {} : { width: size[0], height: size[1] };
};

type ImageSize = readonly [width: number, height: number];

const readers: Readonly<Record<string, (bytes: Buffer) => ImageSize | undefined>> = {
  "image/png": (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)],
  "image/gif": (bytes) => [bytes.readUInt16LE(6), bytes.readUInt16LE(8)],
  "image/bmp": (bytes) => [bytes.readUInt32LE(18), Math.abs(bytes.readInt32LE(22))],
  "image/jpeg": (bytes) => jpegSize(bytes),
  "image/webp": (bytes) => webpSize(bytes),
};

/** The size is in the frame header, which follows any number of other segments. */
const jpegSize = (bytes: Buffer): ImageSize | undefined => {
  let at = 2;
  while (at + 9 < bytes.length && bytes[at] === 0xff) {
    const marker = bytes[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return undefined;
};

const webpSize = (bytes: Buffer): ImageSize | undefined => {
  switch (bytes.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = bytes.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
};
