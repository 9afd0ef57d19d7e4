import type { Environment } from "../../world/world.ts";

/** How many colours a terminal has: none wanted, the sixteen it names itself, 256 fixed ones, or any. */
export type ColourDepth = "none" | "sixteen" | "indexed" | "true";

/** A colour: its value, and the nearest of the terminal's own sixteen. */
export type TerminalColour = { readonly rgb: number; readonly ansi: number };

/** What the environment says about colours. `NO_COLOR` wins over everything but `FORCE_COLOR`. */
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

/** The numbers that set a colour, as text or as the ground behind it. */
export const colourCodes = (
  { rgb, ansi: own }: TerminalColour,
  { depth, isGround }: { readonly depth: ColourDepth; readonly isGround: boolean },
): string => {
  const [red, green, blue] = [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
  switch (depth) {
    case "none":
      return "";
    case "sixteen":
      return String((own < 8 ? 30 + own : 82 + own) + (isGround ? 10 : 0));
    case "indexed":
      return `${isGround ? 48 : 38};5;${indexOf(red, green, blue)}`;
    case "true":
      return `${isGround ? 48 : 38};2;${red};${green};${blue}`;
  }
};

/** The place in the table of 256: a cube of six steps by colour, then a ramp of greys. */
const indexOf = (red: number, green: number, blue: number): number => {
  const isGrey = Math.max(red, green, blue) - Math.min(red, green, blue) < 10;
  if (isGrey) {
    if (red < 8) return 16;
    return red > 243 ? 231 : 232 + Math.round((red - 8) / 10);
  }
  const step = (value: number): number => (value < 48 ? 0 : value < 115 ? 1 : Math.round((value - 55) / 40));
  return 16 + 36 * step(red) + 6 * step(green) + step(blue);
};
