import type { Bitmap } from "../../images/downscale.ts";

/** An image with a palette: for each pixel the palette index, or `transparent`. */
export type IndexedImage = {
  readonly width: number;
  readonly height: number;
  readonly palette: readonly RgbColour[];
  readonly indexes: Uint16Array;
};

/** Red, green and blue, each up to 255. */
export type RgbColour = readonly [red: number, green: number, blue: number];

/** Index of a transparent pixel. */
export const transparent = 0xffff;

/** Quantizes an image to at most this many colours (median cut). */
export const quantizeColours = ({ width, height, pixels }: Bitmap, most: number): IndexedImage => {
  const tones = countColours(pixels);
  const boxes = splitBoxes([...tones.values()], most);
  const numbers = new Map(boxes.flatMap((box, number) => box.map(({ key }) => [key, number] as const)));
  const indexes = new Uint16Array(width * height).map((_, at) =>
    isTransparent(pixels, at) ? transparent : (numbers.get(keyAt(pixels, at)) ?? transparent),
  );
  return { width, height, palette: boxes.map(averageColour), indexes };
};

/** Pixels of nearly the same colour: count and channel sums. */
type ColourBucket = { readonly key: number; count: number; red: number; green: number; blue: number };

const isTransparent = (pixels: Uint8Array, at: number): boolean => (pixels[at * 4 + 3] ?? 0) < 128;

/** Upper five bits of each channel. */
const keyAt = (pixels: Uint8Array, at: number): number =>
  (((pixels[at * 4] ?? 0) >> 3) << 10) | (((pixels[at * 4 + 1] ?? 0) >> 3) << 5) | ((pixels[at * 4 + 2] ?? 0) >> 3);

const countColours = (pixels: Uint8Array): ReadonlyMap<number, ColourBucket> => {
  const tones = new Map<number, ColourBucket>();
  for (let at = 0; at * 4 < pixels.length; at++) {
    if (isTransparent(pixels, at)) continue;
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

type ColourBox = readonly ColourBucket[];
const channels = ["red", "green", "blue"] as const;

/** Splits the box with the highest pixel count times spread at its median, along its longest side, until there are enough. */
const splitBoxes = (tones: ColourBox, most: number): readonly ColourBox[] => {
  const boxes = tones.length === 0 ? [] : [{ box: tones, ...spreadOf(tones) }];
  while (boxes.length < most) {
    const widest = boxes.reduce((best, each, at) => (each.weight > (boxes[best]?.weight ?? 0) ? at : best), 0);
    const found = boxes[widest];
    if (found === undefined || found.weight === 0) break;
    const sorted = found.box.toSorted((one, other) => valueOf(one, found.part) - valueOf(other, found.part));
    const middle = medianIndex(sorted);
    const halves = [sorted.slice(0, middle), sorted.slice(middle)];
    boxes.splice(widest, 1, ...halves.map((box) => ({ box, ...spreadOf(box) })));
  }
  return boxes.map(({ box }) => box);
};

const valueOf = (tone: ColourBucket, part: (typeof channels)[number]): number => tone[part] / tone.count;

const spreadOf = (box: ColourBox): { readonly part: (typeof channels)[number]; readonly weight: number } => {
  const spreads = channels.map((part) => {
    const values = box.map((tone) => valueOf(tone, part));
    return { part, spread: values.reduce((a, b) => Math.max(a, b), 0) - values.reduce((a, b) => Math.min(a, b), 255) };
  });
  const { part, spread } = spreads.reduce((best, each) => (each.spread > best.spread ? each : best));
  return { part, weight: box.length < 2 ? 0 : spread * countOf(box) };
};

const countOf = (box: ColourBox): number => box.reduce((sum, { count }) => sum + count, 0);

/** Index with half of the pixels before it; neither half is empty. */
const medianIndex = (box: ColourBox): number => {
  const half = countOf(box) / 2;
  let sum = 0;
  const at = box.findIndex(({ count }) => (sum += count) >= half);
  return Math.min(box.length - 1, at + 1);
};

const averageColour = (box: ColourBox): RgbColour => {
  const count = countOf(box);
  const [red = 0, green = 0, blue = 0] = channels.map((part) =>
    Math.round(box.reduce((sum, tone) => sum + tone[part], 0) / count),
  );
  return [red, green, blue];
};
