/** A file the model received. */
export type AttachedFile = {
  readonly kind: "image" | "document" | "audio" | "video";
  readonly mimeType: string;
  readonly bytes: number;
  readonly name?: string;
  readonly width?: number;
  readonly height?: number;
  /** Short label used for it in texts, such as `file-1a2b3c4d`. */
  readonly label?: string;
};

/** Inspects the bytes of a file: its media type by signature where known, and the pixel size of an image. */
export const inspectFile = (
  base64: string,
  claimed: string,
): Pick<AttachedFile, "mimeType" | "bytes" | "width" | "height"> => {
  const data = Buffer.from(base64, "base64");
  for (const { mimeType, matches, size } of formats)
    if (matches(data)) {
      const pixels = size(data);
      return { mimeType, bytes: data.length, ...(pixels === undefined ? {} : { width: pixels[0], height: pixels[1] }) };
    }
  return { mimeType: claimed, bytes: data.length };
};

type ImageDimensions = readonly [width: number, height: number];
type ImageSignature = {
  readonly mimeType: string;
  readonly matches: (data: Buffer) => boolean;
  readonly size: (data: Buffer) => ImageDimensions | undefined;
};

const startsWithBytes =
  (signature: string, least: number) =>
  (data: Buffer): boolean =>
    data.length >= least && data.subarray(0, signature.length).equals(Buffer.from(signature, "latin1"));

/** Image formats by signature. */
const formats: readonly ImageSignature[] = [
  {
    mimeType: "image/png",
    matches: startsWithBytes("\x89PNG\r\n\x1a\n", 24),
    size: (data) => [data.readUInt32BE(16), data.readUInt32BE(20)],
  },
  {
    mimeType: "image/gif",
    matches: startsWithBytes("GIF8", 10),
    size: (data) => [data.readUInt16LE(6), data.readUInt16LE(8)],
  },
  { mimeType: "image/jpeg", matches: startsWithBytes("\xff\xd8\xff", 4), size: (data) => jpegSize(data) },
  {
    mimeType: "image/webp",
    matches: (data) => startsWithBytes("RIFF", 30)(data) && data.toString("latin1", 8, 12) === "WEBP",
    size: (data) => webpSize(data),
  },
];

/** Reads the size from the frame header, which follows any number of other segments, a thumbnail among them. */
const jpegSize = (data: Buffer): ImageDimensions | undefined => {
  for (let at = 2; at + 9 <= data.length && data[at] === 0xff;) {
    const marker = data[at + 1] ?? 0;
    if (marker === 0xff) at += 1;
    else if (marker >= 0xc0 && marker <= 0xcf && !nonFrameMarkers.has(marker))
      return [data.readUInt16BE(at + 7), data.readUInt16BE(at + 5)];
    else at += 2 + data.readUInt16BE(at + 2);
  }
  return undefined;
};

/** Huffman tables, extensions and arithmetic coding share the number range of frame markers. */
const nonFrameMarkers: ReadonlySet<number> = new Set([0xc4, 0xc8, 0xcc]);

const webpSize = (data: Buffer): ImageDimensions | undefined => {
  switch (data.toString("latin1", 12, 16)) {
    case "VP8 ":
      return [data.readUInt16LE(26) & 0x3fff, data.readUInt16LE(28) & 0x3fff];
    case "VP8L": {
      const bits = data.readUInt32LE(21);
      return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
    }
    case "VP8X":
      return [data.readUIntLE(24, 3) + 1, data.readUIntLE(27, 3) + 1];
    default:
      return undefined;
  }
};
