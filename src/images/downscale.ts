import type { PixelRows } from "./read-png.ts";

/** A complete image, four bytes per pixel. */
export type Bitmap = { readonly width: number; readonly height: number; readonly pixels: Uint8Array };

/** Pixels processed before yielding to the event loop, so that keys are handled meanwhile. */
const pixelsPerTurn = 2 ** 18;

/** Downscales an image by averaging; it is never enlarged. */
export const downscale = async (
  { width, height, rows }: PixelRows,
  size: { readonly width: number; readonly height: number },
): Promise<Bitmap> => {
  const small = { width: Math.min(width, size.width), height: Math.min(height, size.height) };
  const pixels = new Uint8Array(small.width * small.height * 4);
  const sums = new Float64Array(small.width * 5);
  let row = 0;
  let y = 0;
  const atOnce = Math.ceil(pixelsPerTurn / width);
  for (const next of rows) {
    addRow(sums, next, width);
    y += 1;
    if (y % atOnce === 0) await new Promise((resolve) => setImmediate(resolve));
    // The last source row of this target row.
    if (Math.floor((y * small.height) / height) === row) continue;
    pixels.set(averageRow(sums), row * small.width * 4);
    sums.fill(0);
    row += 1;
  }
  return { ...small, pixels };
};

/** Adds a source row: for each target pixel the colours weighted by alpha, the alpha, and the count. */
const addRow = (sums: Float64Array, pixels: Uint8Array, width: number): void => {
  const columns = sums.length / 5;
  for (let x = 0, from = 0; x < width; x++, from += 4) {
    const to = Math.floor((x * columns) / width) * 5;
    const opacity = pixels[from + 3] ?? 0;
    sums[to] = (sums[to] ?? 0) + (pixels[from] ?? 0) * opacity;
    sums[to + 1] = (sums[to + 1] ?? 0) + (pixels[from + 1] ?? 0) * opacity;
    sums[to + 2] = (sums[to + 2] ?? 0) + (pixels[from + 2] ?? 0) * opacity;
    sums[to + 3] = (sums[to + 3] ?? 0) + opacity;
    sums[to + 4] = (sums[to + 4] ?? 0) + 1;
  }
};

const averageRow = (sums: Float64Array): Uint8Array => {
  const row = new Uint8Array((sums.length / 5) * 4);
  for (let at = 0; at * 5 < sums.length; at++) {
    const [red = 0, green = 0, blue = 0, opacity = 0, count = 1] = sums.subarray(at * 5, at * 5 + 5);
    const whole = Math.max(1, opacity);
    row.set([red / whole, green / whole, blue / whole, opacity / count].map(Math.round), at * 4);
  }
  return row;
};
