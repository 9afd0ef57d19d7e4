import { describe, expect, it } from "vitest";
import { colourCodes, type TerminalColour } from "./colour.ts";
import { dark, light } from "./theme.ts";

describe("with 256 colours", () => {
  for (const [name, theme] of Object.entries({ dark, light })) {
    it.each(["added", "removed"] as const)(`${name}: changed words stand out in a line that is %s`, (kind) => {
      const [line, words] = [theme.backgrounds[kind], theme.backgrounds[`${kind}-strong`]].map(indexOf);
      expect(words).not.toBe(line);
    });

    it(`${name}: code is readable on every background of a diff`, () => {
      const weak = codeTones.flatMap((tone) =>
        diffBackgrounds
          .filter((ground) => contrast(theme.tones[tone], theme.backgrounds[ground]) < 3)
          .map((ground) => `${tone} on ${ground}: ${contrast(theme.tones[tone], theme.backgrounds[ground])}`),
      );
      expect(weak).toEqual([]);
    });
  }
});

const codeTones = ["muted", "added", "removed", "keyword", "string", "number", "comment", "function", "type"] as const;
const diffBackgrounds = ["added", "removed", "added-strong", "removed-strong"] as const;

const indexOf = (colour: TerminalColour): number =>
  Number(colourCodes(colour, { depth: "indexed", isGround: true }).split(";").at(-1));

/** The contrast ratio of WCAG 2, of the colours a terminal with 256 colours shows. */
const contrast = (text: TerminalColour, ground: TerminalColour): number => {
  const [darker = 0, lighter = 0] = [text, ground].map((each) => luminance(indexOf(each))).toSorted((a, b) => a - b);
  return Math.round(((lighter + 0.05) / (darker + 0.05)) * 100) / 100;
};

const luminance = (index: number): number => {
  const [red = 0, green = 0, blue = 0] = channelsOf(index).map((each) =>
    each <= 10 ? each / 3294 : ((each / 255 + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

const channelsOf = (index: number): readonly number[] =>
  index >= 232
    ? Array.from({ length: 3 }, () => 8 + 10 * (index - 232))
    : [36, 6, 1].map((size) => [0, 95, 135, 175, 215, 255][Math.floor((index - 16) / size) % 6] ?? 0);
