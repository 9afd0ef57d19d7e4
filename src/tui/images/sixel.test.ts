import { crc32, deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { testTerminal } from "../../../test/tui/terminal.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { createSgrEncoder } from "../screen/sgr.ts";
import { Screen } from "../screen/screen.ts";
import { dark } from "../screen/theme.ts";
import { line } from "../text/line.ts";
import { encodeImage } from "./encode.ts";
import { encodeSixel } from "./sixel.ts";
import { fc } from "../../../test/support/fast-check.ts";

type Pixel = readonly [red: number, green: number, blue: number, opacity: number];

const [red, green, blue, white, black, none]: readonly Pixel[] = [
  [255, 0, 0, 255],
  [0, 255, 0, 255],
  [0, 0, 255, 255],
  [255, 255, 255, 255],
  [0, 0, 0, 255],
  [9, 9, 9, 0],
] as const;
if (!red || !green || !blue || !white || !black || !none) throw new Error("No colours.");

/* oxlint-disable no-control-regex */
describe("sixels", () => {
  it("show every pixel of a PNG, leaving transparent ones unchanged", async () => {
    const rows = [
      [red, green, blue, white, black],
      [none, red, red, red, red],
      ...Array.from({ length: 5 }, () => [blue, none, none, green, green]),
    ];
    expect(await shown(png({ rows }), { width: 100, height: 100 })).toEqual(rows.map((row) => row.map(seen)));
  });

  it.each(["none", "left", "above", "mean", "paeth"])("decode rows filtered by %s", async (filter) => {
    const rows = Array.from({ length: 9 }, (_, y) =>
      Array.from({ length: 7 }, (__, x): Pixel => [x * 36, y * 28, ((x * y) % 7) * 40, 255]),
    );
    const file = png({ rows, filter: ["none", "left", "above", "mean", "paeth"].indexOf(filter) });
    expect(await shown(file, { width: 100, height: 100 })).toEqual(rows.map((row) => row.map(seen)));
  });

  it.each([
    { name: "gray", colour: 0, depth: 8, data: [[0, 128, 255]], pixels: [[0, 128, 255]] },
    { name: "gray of one bit", colour: 0, depth: 1, data: [[0b0110_0000]], pixels: [[0, 255, 255]] },
    { name: "gray of four bits", colour: 0, depth: 4, data: [[0x0f, 0x80]], pixels: [[0, 255, 136]] },
    { name: "gray of sixteen bits", colour: 0, depth: 16, data: [[0, 7, 128, 9, 255, 255]], pixels: [[0, 128, 255]] },
    { name: "gray with opacity", colour: 4, depth: 8, data: [[7, 255, 9, 0, 255, 200]], pixels: [[7, undefined, 255]] },
  ])("show $name", async ({ colour, depth, data, pixels }) => {
    const wanted = pixels.map((row) =>
      row.map((tone) => (tone === undefined ? undefined : seen([tone, tone, tone, 255]))),
    );
    expect(await shown(pngOf({ width: 3, height: 1, colour, depth, data }), { width: 9, height: 9 })).toEqual(wanted);
  });

  it.each([1, 2, 4, 8])("show palette colours of %i bits", async (depth) => {
    const data = [[[0b0100_0000], [0b0001_0000], [0x01, 0x00], [0, 1, 0]][Math.log2(depth)] ?? []];
    const palette = [
      { type: "PLTE", data: Buffer.from([255, 0, 0, 0, 0, 255]) },
      { type: "tRNS", data: Buffer.from([255, 0]) },
    ];
    const file = pngOf({ width: 3, height: 1, colour: 3, depth, data, before: palette });
    expect(await shown(file, { width: 9, height: 9 })).toEqual([[seen(red), undefined, seen(red)]]);
  });

  it("are downscaled to the limit by averaging", async () => {
    const half = Array.from({ length: 8 }, (_, y) => Array.from({ length: 12 }, () => (y < 4 ? black : white)));
    const file = png({ rows: half });
    expect(await shown(file, { width: 3, height: 2 })).toEqual([
      [0, 0, 0].map(() => seen(black)),
      [0, 0, 0].map(() => seen(white)),
    ]);
    expect(await shown(file, { width: 1, height: 1 })).toEqual([[seen([128, 128, 128, 255])]]);
  });

  it("approximate colours beyond the palette limit", async () => {
    const rows = Array.from({ length: 40 }, (_, y) =>
      Array.from({ length: 60 }, (__, x): Pixel => [x * 4, y * 6, 255 - x * 2 - y, 255]),
    );
    const sent = (await encodeSixel(png({ rows }), { width: 100, height: 100 })) ?? "";
    expect(sent.match(/#\d+;2;/g)?.length).toBe(256);
    const far = decoded(sent).flatMap((row, y) =>
      row.filter((pixel, x) => {
        const wanted = seen(rows[y]?.[x] ?? none) ?? [];
        return pixel === undefined || pixel.some((part, at) => Math.abs(part - (wanted[at] ?? 0)) > 12);
      }),
    );
    expect(far).toEqual([]);
  });

  it("contain only colours and counts, whatever the file contains", async () => {
    const hostile = Buffer.from('\u001b]0;title\u0007\u001b[2J\u001bP"q');
    const words = { type: "tEXt", data: hostile };
    const before = [words, { type: "PLTE", data: hostile }];
    const rows = [[...hostile].map((byte): Pixel => [byte, 27, 7, 255])];
    const sent = await encodeSixel(png({ rows, before }), { width: 50, height: 50 });
    expect(sent).toMatch(/^\u001bP0;1q"1;1;\d+;\d+[#;\d!$?-~-]*\u001b\\$/);
    expect(sent?.slice(2, -2)).not.toContain("\u001b");
  });

  it("are not made of broken, interlaced, truncated, oversized or other files", async () => {
    const rows = [[red, green]];
    const file = png({ rows });
    const changed = (at: number, value: number): Buffer => {
      const copy = Buffer.from(file);
      copy[at] = value;
      return copy;
    };
    const bomb = pngOf({
      width: 1,
      height: 1,
      colour: 2,
      depth: 8,
      data: Array.from({ length: 2000 }, () => [0, 0, 0]),
    });
    const short = pngOf({ width: 1, height: 3, colour: 2, depth: 8, data: [[0, 0, 0]] });
    const huge = pngOf({ width: 2 ** 16, height: 2 ** 16, colour: 0, depth: 8, data: [[0]] });
    const files = [
      Buffer.alloc(0),
      Buffer.from("no picture at all, but long enough to be one"),
      file.subarray(0, 30),
      file.subarray(0, file.length - 20),
      changed(28, 1),
      changed(24, 3),
      changed(25, 5),
      changed(19, 0),
      bomb,
      short,
      huge,
    ];
    expect(await Promise.all(files.map((each) => encodeSixel(each, { width: 9, height: 9 })))).toEqual(
      files.map(() => undefined),
    );
  });

  it("never crash on arbitrary bytes", async () => {
    const file = png({ rows: Array.from({ length: 4 }, () => [red, green, none, blue]) });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fc.nat(file.length - 1), fc.nat(255)), { maxLength: 6 }), async (changes) => {
        const copy = Buffer.from(file);
        for (const [at, value] of changes) copy[at] = value;
        const sent = await encodeSixel(copy, { width: 20, height: 20 });
        expect(sent ?? "").toMatch(/^(?:\u001bP0;1q[\x20-\x7e]*\u001b\\)?$/);
      }),
      { numRuns: 300 },
    );
  });

  it("take the reserved rows among the printed lines", async () => {
    const terminal = testTerminal({ columns: 20, rows: 12 });
    const world = simulatedWorld();
    const paint = createSgrEncoder({ theme: dark, depth: "none" });
    const screen = new Screen({ terminal, clock: world.clock, sgr: paint, live: () => ({ lines: [line("> ")] }) });
    const rows = Array.from({ length: 50 }, () => Array.from({ length: 20 }, () => red));
    const file = { bytes: png({ rows }), mimeType: "image/png", pixels: { width: 20, height: 50 } };
    const broken = { ...file, bytes: Buffer.from("broken") };
    const area = { columns: 20, rows: 3, cellSize: { width: 10, height: 10 } };
    screen.print([line("a")]);
    for (const each of [file, broken]) {
      const image = encodeImage("sixel", each, area);
      expect(image?.rows).toBe(3);
      if (image !== undefined) screen.printImage(image);
      screen.print([line("after")]);
    }
    await world.run(screen.flush());
    expect(terminal.screen.scrollback()).toEqual(["a", "", "", "", "after", "after", ">"]);
    expect(terminal.written().join("")).toContain('\u001b7\u001bP0;1q"1;1;12;30#0;2;100;0;0#0!12~-');
  });

  it("assume small cells if the cell size is unknown", () => {
    const image = { bytes: Buffer.alloc(0), mimeType: "image/png", pixels: { width: 1000, height: 1000 } };
    expect(encodeImage("sixel", image, { columns: 80, rows: 16 })?.rows).toBe(16);
    expect(encodeImage("sixel", { ...image, pixels: { width: 5, height: 13 } }, { columns: 80, rows: 16 })?.rows).toBe(
      2,
    );
  });
});

/** A colour after a round trip: sixel has a hundred steps per channel. */
const seen = ([r, g, b, opacity]: Pixel): readonly number[] | undefined =>
  opacity < 128 ? undefined : [r, g, b].map((part) => Math.round((part * 100) / 255));

const shown = async (
  file: Uint8Array,
  size: { readonly width: number; readonly height: number },
): Promise<ReturnType<typeof decoded>> => decoded((await encodeSixel(file, size)) ?? "");

/** Decodes sixels to colours, pixel by pixel. */
const decoded = (text: string): readonly (readonly (readonly number[] | undefined)[])[] => {
  const [, size = "", body = ""] = /^\u001bP0;1q"1;1;(\d+;\d+)(.*)\u001b\\$/.exec(text) ?? [];
  const [width = 0, height = 0] = size.split(";").map(Number);
  const rows = Array.from({ length: height }, () => Array.from<readonly number[] | undefined>({ length: width }));
  const colours = new Map<number, readonly number[]>();
  let [x, top, colour] = [0, 0, 0];
  for (const [, number, percents, count, letter] of body.matchAll(/#(\d+)(?:;2;([\d;]+))?|(?:!(\d+))?([?-~$-])/g)) {
    if (number !== undefined) colour = Number(number);
    if (percents !== undefined) colours.set(colour, percents.split(";").map(Number));
    if (letter === undefined) continue;
    if (letter === "$" || letter === "-") x = 0;
    if (letter === "-") top += 6;
    if (letter === "$" || letter === "-") continue;
    for (let times = Number(count ?? 1); times > 0; times--, x++)
      for (let bit = 0; bit < 6; bit++) {
        const row = rows[top + bit];
        if (((letter.charCodeAt(0) - 63) >> bit) & 1 && row !== undefined) row[x] = colours.get(colour);
      }
  }
  return rows;
};

type Chunk = { readonly type: string; readonly data: Buffer };

/** A PNG of RGBA colours, its rows written with one of the five filters. */
const png = ({
  rows,
  filter = 0,
  before = [],
}: {
  readonly rows: readonly (readonly Pixel[])[];
  readonly filter?: number;
  readonly before?: readonly Chunk[];
}): Buffer => {
  const data = rows.map((row) => row.flat());
  return pngOf({ width: rows[0]?.length ?? 0, height: rows.length, colour: 6, depth: 8, data, filter, before });
};

const pngOf = ({
  width,
  height,
  colour,
  depth,
  data,
  filter = 0,
  before = [],
}: {
  readonly width: number;
  readonly height: number;
  readonly colour: number;
  readonly depth: number;
  readonly data: readonly (readonly number[])[];
  readonly filter?: number;
  readonly before?: readonly Chunk[];
}): Buffer => {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([depth, colour, 0, 0, 0], 8);
  const lines = data.map((row, at) => [filter, ...row.map((byte, x) => byte - guessed(data, at, x, filter))]);
  const pixels = deflateSync(Buffer.from(lines.flat().map((byte) => byte & 255)));
  const chunks = [
    { type: "IHDR", data: header },
    ...before,
    { type: "IDAT", data: pixels },
    { type: "IEND", data: Buffer.alloc(0) },
  ];
  return Buffer.concat([Buffer.from("\u0089PNG\r\n\u001a\n", "latin1"), ...chunks.map(chunkBytes)]);
};

/** The prediction each filter subtracts, by its definition. */
const guessed = (data: readonly (readonly number[])[], y: number, x: number, filter: number): number => {
  const at = (row: number, column: number): number => data[row]?.[column] ?? 0;
  const [a, b, c] = [at(y, x - 4), at(y - 1, x), at(y - 1, x - 4)];
  const nearest = [a, b, c].toSorted((one, other) => Math.abs(a + b - c - one) - Math.abs(a + b - c - other))[0] ?? 0;
  return [0, a, b, (a + b) >> 1, nearest][filter] ?? 0;
};

const chunkBytes = ({ type, data }: Chunk): Buffer => {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
};
