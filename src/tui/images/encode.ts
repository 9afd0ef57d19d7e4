import type { PictureSupport } from "./support.ts";

/** A picture as its terminal takes it, and the room it takes there. */
export type Picture = { readonly encoded: string; readonly rows: number };

/** How large a picture is. */
type Pixels = { readonly width: number; readonly height: number };

/** A picture for a terminal that shows such, in no more room than this; undefined where it cannot be shown. */
export const pictureFor = (
  support: PictureSupport,
  { bytes, mimeType, pixels }: { readonly bytes: Uint8Array; readonly mimeType: string; readonly pixels: Pixels },
  room: { readonly columns: number; readonly rows: number },
): Picture | undefined => {
  const cells = cellsFor(pixels, room);
  switch (support) {
    case "kitty":
      // Of files, kitty takes PNG alone.
      return mimeType === "image/png" ? { encoded: kittyPicture(bytes, cells), rows: cells.rows } : undefined;
    case "iterm":
      return { encoded: itermPicture(bytes, cells), rows: cells.rows };
    case "sixel":
    case "none":
      return undefined;
  }
};

type Cells = { readonly columns: number; readonly rows: number };

/** A letter is about eight pixels wide and sixteen high. */
const letter = { width: 8, height: 16 };

const cellsFor = ({ width, height }: Pixels, room: Cells): Cells => {
  const scale = Math.min(
    1,
    (room.columns * letter.width) / Math.max(1, width),
    (room.rows * letter.height) / Math.max(1, height),
  );
  return {
    columns: Math.max(1, Math.min(room.columns, Math.ceil((width * scale) / letter.width))),
    rows: Math.max(1, Math.min(room.rows, Math.ceil((height * scale) / letter.height))),
  };
};

/** How many letters of base64 kitty takes at once. */
const chunkLetters = 4096;

const kittyPicture = (png: Uint8Array, { columns, rows }: Cells): string => {
  const data = Buffer.from(png).toString("base64");
  const count = Math.max(1, Math.ceil(data.length / chunkLetters));
  return Array.from({ length: count }, (_, at) => {
    const piece = data.slice(at * chunkLetters, (at + 1) * chunkLetters);
    const more = at + 1 < count ? 1 : 0;
    // q=2: the terminal says nothing back, not even what went wrong. C=1: the cursor stays.
    const keys = at === 0 ? `a=T,f=100,q=2,C=1,c=${columns},r=${rows},m=${more}` : `m=${more}`;
    return `\u001b_G${keys};${piece}\u001b\\`;
  }).join("");
};

const itermPicture = (bytes: Uint8Array, { columns, rows }: Cells): string =>
  `\u001b]1337;File=inline=1;size=${bytes.length};width=${columns};height=${rows};preserveAspectRatio=1:${Buffer.from(bytes).toString("base64")}\u0007`;
