import type { Style } from "../text/style.ts";
import { colourCodes, type ColourDepth } from "./colour.ts";
import type { Theme } from "./theme.ts";

/** How styles become what a terminal is sent. */
export type SgrEncoder = {
  /** What sets exactly this style, whatever was set before. */
  readonly codes: (style: Style) => string;
  /** What opens a link, or closes the one before; nothing where links are off. */
  readonly link: (target: string | undefined) => string;
};

/** The paint of a terminal. Links are off unless asked for: their target is not what is read. */
export const createSgrEncoder = ({
  theme,
  depth,
  links = false,
}: {
  readonly theme: Theme;
  readonly depth: ColourDepth;
  readonly links?: boolean;
}): SgrEncoder => ({
  codes: (style) => {
    const codes = [
      style.bold && "1",
      style.dim && "2",
      style.italic && "3",
      style.underline && "4",
      style.inverse && "7",
      style.strike && "9",
      style.tone && colourCodes(theme.tones[style.tone], { depth, isGround: false }),
      style.background && colourCodes(theme.backgrounds[style.background], { depth, isGround: true }),
    ].filter((code) => code !== undefined && code !== "");
    // Without colours, what has the focus must still be told from the rest.
    if (style.background === "focus" && depth === "none" && !style.inverse) codes.push("7");
    return codes.length === 0 ? "\u001b[m" : `\u001b[0;${codes.join(";")}m`;
  },
  link: (target) => (links ? `\u001b]8;;${target === undefined ? "" : safeLinkTarget(target)}\u001b\\` : ""),
});

/** Only addresses of the web, in plain letters. */
const safeLinkTarget = (target: string): string => (/^https?:\/\/[\x21-\x7e]{1,2000}$/.test(target) ? target : "");
