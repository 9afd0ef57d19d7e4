import type { Bitmap } from "./shrink.ts";

/** A picture in few colours: for each pixel the number of its colour, or `clear` where there is none. */
export type Indexed = {
  readonly width: number;
  readonly height: number;
  readonly colours: readonly Colour[];
  readonly indexes: Uint16Array;
};

/** Red, green and blue, each up to 255. */
export type Colour = readonly [red: number, green: number, blue: number];

/** The number of no colour. */
export const clear = 0xffff;

/** The colours that come nearest to a picture, and no more than this many. */
export const paletteOf = ({ width, height, pixels }: Bitmap, most: number): Indexed => {
  const tones = tonesOf(pixels);
  const boxes = split([...tones.values()], most);
  const numbers = new Map(boxes.flatMap((box, number) => box.map(({ key }) => [key, number] as const)));
  const indexes = new Uint16Array(width * height).map((_, at) =>
    isClear(pixels, at) ? clear : (numbers.get(keyAt(pixels, at)) ?? clear),
  );
  return { width, height, colours: boxes.map(mean), indexes };
};

/** Pixels of nearly the same colour: how many, and the sums of their parts. */
type Tone = { readonly key: number; count: number; red: number; green: number; blue: number };

const isClear = (pixels: Uint8Array, at: number): boolean => (pixels[at * 4 + 3] ?? 0) < 128;

/** The upper five bits of each part. */
const keyAt = (pixels: Uint8Array, at: number): number =>
  (((pixels[at * 4] ?? 0) >> 3) << 10) | (((pixels[at * 4 + 1] ?? 0) >> 3) << 5) | ((pixels[at * 4 + 2] ?? 0) >> 3);

const tonesOf = (pixels: Uint8Array): ReadonlyMap<number, Tone> => {
  const tones = new Map<number, Tone>();
  for (let at = 0; at * 4 < pixels.length; at++) {
    if (isClear(pixels, at)) continue;
    const key = keyAt(pixels, at);
    const tone = tones.get(key) ?? { key, count: 0, red: 0, green: 0, blue: 0 };
    tones.set(key, tone);
    tone.count += 1;
    tone.red += pixels[at * 4] ?? 0;
    tone.green += pixels[at * 4 + 1] ?? 0;
    tone.blue += pixels[at * 4 + 2] ?? 0;
  }
  return tones;
};

type Box = readonly Tone[];
const parts = ["red", "green", "blue"] as const;

/** Splits the box with the most pixels times spread in its middle, along its longest side, until there are enough. */
const split = (tones: Box, most: number): readonly Box[] => {
  const boxes = tones.length === 0 ? [] : [{ box: tones, ...spreadOf(tones) }];
  while (boxes.length < most) {
    const widest = boxes.reduce((best, each, at) => (each.weight > (boxes[best]?.weight ?? 0) ? at : best), 0);
    const found = boxes[widest];
    if (found === undefined || found.weight === 0) break;
    const sorted = found.box.toSorted((one, other) => valueOf(one, found.part) - valueOf(other, found.part));
    const middle = middleOf(sorted);
    const halves = [sorted.slice(0, middle), sorted.slice(middle)];
    boxes.splice(widest, 1, ...halves.map((box) => ({ box, ...spreadOf(box) })));
  }
  return boxes.map(({ box }) => box);
};

const valueOf = (tone: Tone, part: (typeof parts)[number]): number => tone[part] / tone.count;

const spreadOf = (box: Box): { readonly part: (typeof parts)[number]; readonly weight: number } => {
  const spreads = parts.map((part) => {
    const values = box.map((tone) => valueOf(tone, part));
    return { part, spread: values.reduce((a, b) => Math.max(a, b), 0) - values.reduce((a, b) => Math.min(a, b), 255) };
  });
  const { part, spread } = spreads.reduce((best, each) => (each.spread > best.spread ? each : best));
  return { part, weight: box.length < 2 ? 0 : spread * countOf(box) };
};

const countOf = (box: Box): number => box.reduce((sum, { count }) => sum + count, 0);

/** Where half of the pixels stand before; neither half is empty. */
const middleOf = (box: Box): number => {
  const half = countOf(box) / 2;
  let sum = 0;
  const at = box.findIndex(({ count }) => (sum += count) >= half);
  return Math.min(box.length - 1, at + 1);
};

const mean = (box: Box): Colour => {
  const count = countOf(box);
  const [red = 0, green = 0, blue = 0] = parts.map((part) =>
    Math.round(box.reduce((sum, tone) => sum + tone[part], 0) / count),
  );
  return [red, green, blue];
};
