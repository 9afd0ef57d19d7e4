import { transparent, quantizeColours, type RgbColour, type IndexedImage } from "./palette.ts";
import { readPng } from "../../images/read-png.ts";
import { downscale } from "../../images/downscale.ts";

/** Colour registers nearly all terminals have. */
const maxColours = 256;

/** Encodes a PNG as sixels within a pixel size; undefined if it cannot be read. Only its colours are sent, nothing else of the file. */
export const encodeSixel = async (
  png: Uint8Array,
  size: { readonly width: number; readonly height: number },
): Promise<string | undefined> => {
  const image = await readPng(png);
  return image && sixelText(quantizeColours(await downscale(image, size), maxColours));
};

/** Encodes an image in DEC's sixel format. Transparent pixels are left unchanged. */
const sixelText = (image: IndexedImage): string => {
  const { width, height, palette } = image;
  const bands = Array.from({ length: Math.ceil(height / 6) }, (_, band) => bandText(image, band));
  return `\u001bP0;1q"1;1;${width};${height}${palette.map(colourDefinition).join("")}${bands.join("-")}\u001b\\`;
};

/** Channels are percentages. */
const colourDefinition = (colour: RgbColour, number: number): string =>
  `#${number};2;${colour.map((part) => Math.round((part * 100) / 255)).join(";")}`;

/** A band of six rows: one run of characters per colour, drawn over each other. */
const bandText = ({ width, height, indexes }: IndexedImage, band: number): string => {
  const lines = new Map<number, Uint8Array>();
  for (let bit = 0; bit < 6 && band * 6 + bit < height; bit++)
    for (let x = 0; x < width; x++) {
      const number = indexes[(band * 6 + bit) * width + x] ?? transparent;
      if (number === transparent) continue;
      const line = lines.get(number) ?? new Uint8Array(width);
      lines.set(number, line);
      line[x] = (line[x] ?? 0) | (1 << bit);
    }
  return [...lines].map(([number, line]) => `#${number}${runLengthEncode(line)}`).join("$");
};

/** Run-length encodes a band; empty cells at the end are omitted. */
const runLengthEncode = (line: Uint8Array): string => {
  const end = line.findLastIndex((bits) => bits !== 0) + 1;
  let text = "";
  for (let at = 0; at < end;) {
    let next = at + 1;
    while (next < end && line[next] === line[at]) next += 1;
    const character = String.fromCharCode(63 + (line[at] ?? 0));
    text += next - at > 3 ? `!${next - at}${character}` : character.repeat(next - at);
    at = next;
  }
  return text;
};
