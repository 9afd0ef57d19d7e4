import type { ImageSupport } from "./support.ts";

/** A picture as its terminal takes it, and the room it takes there. One that is still being made, and may turn out to be none, is waited for. */
export type EncodedImage = { readonly encoded: string | Promise<string | undefined>; readonly rows: number };

/** How large a picture is. */
export type PixelSize = { readonly width: number; readonly height: number };

/** Where a picture may stand: letters, and how large one of them is where the terminal has said so. */
export type ImageArea = { readonly columns: number; readonly rows: number; readonly cellSize?: PixelSize | undefined };

/** A picture for a terminal that shows such, in no more room than this; undefined where it cannot be shown. */
export const encodeImage = (
  support: ImageSupport,
  { bytes, mimeType, pixels }: { readonly bytes: Uint8Array; readonly mimeType: string; readonly pixels: PixelSize },
  room: ImageArea,
): EncodedImage | undefined => {
  switch (support) {
    case "kitty": {
      // Of files, kitty takes PNG alone.
      if (mimeType !== "image/png") return undefined;
      const cells = cellsFor(pixels, room, usualCell);
      return { encoded: encodeKitty(bytes, cells), rows: cells.rows };
    }
    case "iterm": {
      const cells = cellsFor(pixels, room, usualCell);
      return { encoded: encodeIterm(bytes, cells), rows: cells.rows };
    }
    case "sixel":
      return mimeType === "image/png" ? encodeSixelImage(bytes, pixels, room) : undefined;
    case "none":
      return undefined;
  }
};

type CellSize = { readonly columns: number; readonly rows: number };

/** A letter is about eight pixels wide and sixteen high. */
const usualCell: PixelSize = { width: 8, height: 16 };

/** Hardly any letter is smaller: a picture made for such takes less room than it was given, never more. */
const smallestCell: PixelSize = { width: 6, height: 12 };

const cellsFor = (pixels: PixelSize, room: ImageArea, letter: PixelSize): CellSize => {
  const { width, height } = scaleToFit(pixels, room, letter);
  return {
    columns: Math.max(1, Math.min(room.columns, Math.ceil(width / letter.width))),
    rows: Math.max(1, Math.min(room.rows, Math.ceil(height / letter.height))),
  };
};

/** The size of a picture that was made no larger, and as much smaller as it must be. */
const scaleToFit = ({ width, height }: PixelSize, { columns, rows }: ImageArea, letter: PixelSize): PixelSize => {
  const scale = Math.min(
    1,
    (columns * letter.width) / Math.max(1, width),
    (rows * letter.height) / Math.max(1, height),
  );
  return { width: width * scale, height: height * scale };
};

/** Of sixels the terminal is told every pixel, so the picture is made as small as it is shown. */
const encodeSixelImage = (bytes: Uint8Array, pixels: PixelSize, room: ImageArea): EncodedImage => {
  const { cellSize: letter = smallestCell } = room;
  const { width, height } = scaleToFit(pixels, room, letter);
  const size = { width: Math.max(1, Math.floor(width)), height: Math.max(1, Math.floor(height)) };
  const encoded = import("./sixel.ts").then(({ encodeSixel }) => encodeSixel(bytes, size)).catch(() => undefined);
  return { encoded, rows: Math.ceil(size.height / letter.height) };
};

/** How many letters of base64 kitty takes at once. */
const kittyChunkLength = 4096;

const encodeKitty = (png: Uint8Array, { columns, rows }: CellSize): string => {
  const data = Buffer.from(png).toString("base64");
  const count = Math.max(1, Math.ceil(data.length / kittyChunkLength));
  return Array.from({ length: count }, (_, at) => {
    const piece = data.slice(at * kittyChunkLength, (at + 1) * kittyChunkLength);
    const more = at + 1 < count ? 1 : 0;
    // q=2: the terminal says nothing back, not even what went wrong. C=1: the cursor stays.
    const keys = at === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},m=${more}` : `m=${more}`;
    return `\u001b_G${keys};${piece}\u001b\\`;
  }).join("");
};

const encodeIterm = (bytes: Uint8Array, { columns, rows }: CellSize): string =>
  `\u001b]1337;File=inline=1;size=${bytes.length};width=${columns};height=${rows};preserveAspectRatio=1:${Buffer.from(bytes).toString("base64")}\u0007`;
