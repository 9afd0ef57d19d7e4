import { deflateSync, crc32 } from "node:zlib";

/** Makes a PNG of 16 by 16 red pixels. */
export const pixelPng = (): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(16, 0);
  header.writeUInt32BE(16, 4);
  header.set([8, 2], 8);
  const row = Buffer.from([0, ...Array.from({ length: 16 }, () => [255, 0, 0]).flat()]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: 16 }, () => row)));
  const signature = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
};

const chunk = (type: string, data: Buffer): Buffer => {
  const body = Buffer.concat([Buffer.from(type), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
};
