import { crc32, deflateSync } from "node:zlib";
import type { Bitmap } from "./downscale.ts";

/** Encodes a bitmap as PNG, without alpha if all of it is opaque. Rows are predicted from the row above, which suits screens. */
export const writePng = ({ width, height, pixels }: Bitmap): Uint8Array => {
  const isOpaque = pixels.every((value, index) => index % 4 !== 3 || value === 255);
  const samples = isOpaque ? 3 : 4;
  const stride = 1 + width * samples;
  const raw = Buffer.alloc(stride * height);
  for (let y = 0; y < height; y++) {
    raw[y * stride] = filterUp;
    for (let at = 0; at < width * samples; at++) {
      const from = (y * width + Math.floor(at / samples)) * 4 + (at % samples);
      raw[y * stride + 1 + at] = (pixels[from] ?? 0) - (y === 0 ? 0 : (pixels[from - width * 4] ?? 0));
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per sample, RGB or RGBA.
  header.set([8, isOpaque ? 2 : 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunkOf("IHDR", header),
    chunkOf("IDAT", deflateSync(raw, { level: 6 })),
    chunkOf("IEND", Buffer.alloc(0)),
  ]);
};

const filterUp = 2;

const chunkOf = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const length = Buffer.alloc(4);
  const check = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};
