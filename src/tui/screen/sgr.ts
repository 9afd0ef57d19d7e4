import type { Style } from "../text/style.ts";
import { colourCodes, type ColourDepth } from "./colour.ts";
import type { Theme } from "./theme.ts";

/** Encodes styles as SGR and links as OSC 8. */
export type SgrEncoder = {
  /** The sequence that sets exactly this style, whatever was set before. */
  readonly codes: (style: Style) => string;
  /** The sequence that opens a link or closes the previous one; empty if links are off. */
  readonly link: (target: string | undefined) => string;
};

/** Creates the encoder for a terminal. Links are off by default: their target is not visible. */
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
    // Without colours the focus must still be visible.
    if (style.background === "focus" && depth === "none" && !style.inverse) codes.push("7");
    return codes.length === 0 ? "\u001b[m" : `\u001b[0;${codes.join(";")}m`;
  },
  link: (target) => (links ? `\u001b]8;;${target === undefined ? "" : safeLinkTarget(target)}\u001b\\` : ""),
});

/** Only URLs of the web and of files, in printable ASCII. */
const safeLinkTarget = (target: string): string =>
  /^(?:https?|file):\/\/[\x21-\x7e]{1,2000}$/.test(target) ? target : "";
