import type { Environment } from "../../world/world.ts";

/** The colours of a terminal: none, its own sixteen, 256 fixed ones, or true colour. */
export type ColourDepth = "none" | "sixteen" | "indexed" | "true";

/** A colour as RGB, the nearest of the sixteen ANSI colours, and its index of 256 where the nearest one would not do. */
export type TerminalColour = { readonly rgb: number; readonly ansi: number; readonly index?: number };

/** Detects the colour depth from the environment. `NO_COLOR` overrides everything but `FORCE_COLOR`. */
export const colourDepthOf = (env: Environment): ColourDepth => {
  const term = (env["TERM"] ?? "").toLowerCase();
  if (env["FORCE_COLOR"] !== undefined && env["FORCE_COLOR"] !== "") return forcedDepth(env["FORCE_COLOR"]);
  if ((env["NO_COLOR"] ?? "") !== "" || term === "dumb") return "none";
  if (/^(?:truecolor|24bit)$/i.test(env["COLORTERM"] ?? "") || /direct|kitty|ghostty|alacritty|wezterm/.test(term))
    return "true";
  if (env["WT_SESSION"] !== undefined || env["TERM_PROGRAM"] === "iTerm.app") return "true";
  return term.includes("256color") || env["TERM_PROGRAM"] === "Apple_Terminal" ? "indexed" : "sixteen";
};

const forcedDepth = (value: string): ColourDepth => {
  const depths: Readonly<Record<string, ColourDepth>> = { "0": "none", false: "none", "2": "indexed", "3": "true" };
  return depths[value] ?? "sixteen";
};

/** The SGR parameters of a colour, as foreground or background. */
export const colourCodes = (
  { rgb, ansi, index }: TerminalColour,
  { depth, isGround }: { readonly depth: ColourDepth; readonly isGround: boolean },
): string => {
  const [red, green, blue] = [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
  switch (depth) {
    case "none":
      return "";
    case "sixteen":
      return String((ansi < 8 ? 30 + ansi : 82 + ansi) + (isGround ? 10 : 0));
    case "indexed":
      return `${isGround ? 48 : 38};5;${index ?? indexOf(red, green, blue)}`;
    case "true":
      return `${isGround ? 48 : 38};2;${red};${green};${blue}`;
  }
};

/** The nearest of the sixteen ANSI colours, by their usual values. */
export const nearestAnsi = (rgb: number): number => {
  const distances = ansiColours.map((each) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((rgb >> shift) & 255) - ((each >> shift) & 255)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
};

/** The usual values of the sixteen ANSI colours, as in xterm. */
const ansiColours: readonly number[] = [
  0x000000, 0xcd0000, 0x00cd00, 0xcdcd00, 0x0000ee, 0xcd00cd, 0x00cdcd, 0xe5e5e5, 0x7f7f7f, 0xff0000, 0x00ff00,
  0xffff00, 0x5c5cff, 0xff00ff, 0x00ffff, 0xffffff,
];

/** The index in the 256-colour table: a 6x6x6 cube, then a grey ramp. */
const indexOf = (red: number, green: number, blue: number): number => {
  const isGrey = Math.max(red, green, blue) - Math.min(red, green, blue) < 10;
  if (isGrey) {
    if (red < 8) return 16;
    return red > 243 ? 231 : 232 + Math.round((red - 8) / 10);
  }
  const step = (value: number): number => (value < 48 ? 0 : value < 115 ? 1 : Math.round((value - 55) / 40));
  return 16 + 36 * step(red) + 6 * step(green) + step(blue);
};
