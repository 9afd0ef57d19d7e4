import type { ImageSupport } from "./support.ts";

/** An image encoded for its terminal, and the rows it takes. Encoding may still run, and may yield nothing. */
export type EncodedImage = { readonly encoded: string | Promise<string | undefined>; readonly rows: number };

/** The size of an image in pixels. */
export type PixelSize = { readonly width: number; readonly height: number };

/** The area for an image in cells, and the cell size if the terminal reported it. */
export type ImageArea = { readonly columns: number; readonly rows: number; readonly cellSize?: PixelSize | undefined };

/** Encodes an image for a terminal to fit an area; undefined if it cannot be shown. */
export const encodeImage = (
  support: ImageSupport,
  { bytes, mimeType, pixels }: { readonly bytes: Uint8Array; readonly mimeType: string; readonly pixels: PixelSize },
  area: ImageArea,
): EncodedImage | undefined => {
  switch (support) {
    case "kitty": {
      // kitty accepts no file format but PNG.
      if (mimeType !== "image/png") return undefined;
      const cells = cellsFor(pixels, area, usualCell);
      return { encoded: encodeKitty(bytes, cells), rows: cells.rows };
    }
    case "iterm": {
      const cells = cellsFor(pixels, area, usualCell);
      return { encoded: encodeIterm(bytes, cells), rows: cells.rows };
    }
    case "sixel":
      return mimeType === "image/png" ? encodeSixelImage(bytes, pixels, area) : undefined;
    case "none":
      return undefined;
  }
};

type CellSize = { readonly columns: number; readonly rows: number };

/** Typical cell size. */
const usualCell: PixelSize = { width: 8, height: 16 };

/** Hardly any cell is smaller: an image scaled for it takes less room than reserved, never more. */
const smallestCell: PixelSize = { width: 6, height: 12 };

const cellsFor = (pixels: PixelSize, area: ImageArea, cell: PixelSize): CellSize => {
  const { width, height } = scaleToFit(pixels, area, cell);
  return {
    columns: Math.max(1, Math.min(area.columns, Math.ceil(width / cell.width))),
    rows: Math.max(1, Math.min(area.rows, Math.ceil(height / cell.height))),
  };
};

/** Scales an image down to fit, never up. */
const scaleToFit = ({ width, height }: PixelSize, { columns, rows }: ImageArea, cell: PixelSize): PixelSize => {
  const scale = Math.min(1, (columns * cell.width) / Math.max(1, width), (rows * cell.height) / Math.max(1, height));
  return { width: width * scale, height: height * scale };
};

/** Sixel sends every pixel, so the image is scaled down to its displayed size. */
const encodeSixelImage = (bytes: Uint8Array, pixels: PixelSize, area: ImageArea): EncodedImage => {
  const { cellSize = smallestCell } = area;
  const { width, height } = scaleToFit(pixels, area, cellSize);
  const size = { width: Math.max(1, Math.floor(width)), height: Math.max(1, Math.floor(height)) };
  const encoded = import("./sixel.ts").then(({ encodeSixel }) => encodeSixel(bytes, size)).catch(() => undefined);
  return { encoded, rows: Math.ceil(size.height / cellSize.height) };
};

/** The base64 characters kitty accepts per chunk. */
const kittyChunkLength = 4096;

const encodeKitty = (png: Uint8Array, { columns, rows }: CellSize): string => {
  const data = Buffer.from(png).toString("base64");
  const count = Math.max(1, Math.ceil(data.length / kittyChunkLength));
  return Array.from({ length: count }, (_, at) => {
    const piece = data.slice(at * kittyChunkLength, (at + 1) * kittyChunkLength);
    const more = at + 1 < count ? 1 : 0;
    // q=2: the terminal sends no response, not even errors. C=1: the cursor does not move.
    const keys = at === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},m=${more}` : `m=${more}`;
    return `\u001b_G${keys};${piece}\u001b\\`;
  }).join("");
};

const encodeIterm = (bytes: Uint8Array, { columns, rows }: CellSize): string =>
  `\u001b]1337;File=inline=1;size=${bytes.length};width=${columns};height=${rows};preserveAspectRatio=1:${Buffer.from(bytes).toString("base64")}\u0007`;
