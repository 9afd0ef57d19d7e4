import type { Environment } from "../../world/world.ts";
import type { Background, Tone } from "../text/style.ts";
import type { TerminalColour } from "./colour.ts";

/** The colour of every tone and background. */
export type Theme = {
  readonly tones: Readonly<Record<Tone, TerminalColour>>;
  readonly backgrounds: Readonly<Record<Background, TerminalColour>>;
};

const colour = (rgb: number, ansi: number, index?: number): TerminalColour =>
  index === undefined ? { rgb, ansi } : { rgb, ansi, index };

/** For light text on a dark background. */
export const dark: Theme = {
  tones: {
    muted: colour(0x8b949e, 8, 248),
    accent: colour(0x79b8ff, 12),
    heading: colour(0xb392f0, 13),
    code: colour(0xffab70, 11),
    link: colour(0x79b8ff, 12),
    success: colour(0x85e89d, 10),
    warning: colour(0xffdf5d, 11),
    error: colour(0xff7b85, 9),
    added: colour(0x85e89d, 10),
    removed: colour(0xff7b85, 9),
    keyword: colour(0xf97583, 9),
    string: colour(0x9ecbff, 14),
    number: colour(0x79b8ff, 12),
    comment: colour(0x8b949e, 8, 248),
    function: colour(0xb392f0, 13, 183),
    type: colour(0xffab70, 11),
  },
  backgrounds: {
    // The darkest green of 256 colours is for the changed words: text on the next one could not be read.
    added: colour(0x12301f, 0, 235),
    removed: colour(0x3a1d23, 0, 235),
    "added-strong": colour(0x1d572d, 2, 22),
    "removed-strong": colour(0x79252d, 1, 88),
    focus: colour(0x2f3b4d, 4),
    user: colour(0x2d3035, 8),
  },
};

/** For dark text on a light background. */
export const light: Theme = {
  tones: {
    muted: colour(0x57606a, 8),
    accent: colour(0x0550ae, 4),
    heading: colour(0x6f42c1, 5),
    code: colour(0x953800, 1),
    link: colour(0x0550ae, 4),
    success: colour(0x116329, 2),
    warning: colour(0x7d4e00, 3),
    error: colour(0xb31d28, 1),
    added: colour(0x116329, 2),
    removed: colour(0xb31d28, 1),
    keyword: colour(0xb31d28, 1),
    string: colour(0x0a3069, 4),
    number: colour(0x0550ae, 4),
    comment: colour(0x57606a, 8),
    function: colour(0x6f42c1, 5),
    type: colour(0x953800, 1),
  },
  backgrounds: {
    added: colour(0xdafbe1, 15),
    removed: colour(0xffebe9, 15, 224),
    "added-strong": colour(0xabf2bc, 10),
    "removed-strong": colour(0xffc0bb, 9),
    focus: colour(0xddeeff, 14),
    user: colour(0xeceef2, 7),
  },
};

/** Chooses a theme by the reported background colour, else by the environment, else dark. */
export const themeFor = (env: Environment, ground?: number): Theme => {
  if (ground !== undefined) return isBright(ground) ? light : dark;
  const own = Number(/;(\d+)$/.exec(env["COLORFGBG"] ?? "")?.[1] ?? 0);
  return own === 7 || own === 15 ? light : dark;
};

const isBright = (rgb: number): boolean =>
  0.2126 * (rgb >> 16) + 0.7152 * ((rgb >> 8) & 255) + 0.0722 * (rgb & 255) > 127;
