import { downscale } from "./downscale.ts";
import { readPng } from "./read-png.ts";
import { writePng } from "./write-png.ts";

/** Encodes a PNG again, at most `side` pixels wide and high. Undefined if it cannot be decoded or gets no smaller. */
export const shrinkPng = async (bytes: Uint8Array, side: number): Promise<Uint8Array | undefined> => {
  const image = await readPng(bytes);
  if (image === undefined) return undefined;
  const factor = Math.min(1, side / Math.max(image.width, image.height));
  const fit = (pixels: number): number => Math.max(1, Math.round(pixels * factor));
  const small = writePng(await downscale(image, { width: fit(image.width), height: fit(image.height) }));
  return small.length < bytes.length ? small : undefined;
};
