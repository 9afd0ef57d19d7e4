import type { TerminalReply } from "./key-event.ts";

/** Parses a reply from the text after its escape; undefined if it is none. */
export const parseReply = (sequence: string): TerminalReply | undefined => {
  const attributes = /^\[\?([\d;]*)c$/.exec(sequence);
  if (attributes !== null) return { type: "attributes", attributes: (attributes[1] ?? "").split(";").map(Number) };
  const background = /^\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(sequence);
  if (background !== null)
    return { type: "background", rgb: background.slice(1).reduce((rgb, part) => rgb * 256 + eightBits(part), 0) };
  const images = /^_Gi=31(?:,[^;]*)?;(\w+)/.exec(sequence);
  if (images !== null) return { type: "kitty-images", isSupported: images[1] === "OK" };
  const cell = /^\[6;([1-9]\d{1,2});([1-9]\d{0,2})t$/.exec(sequence);
  if (cell !== null) return { type: "cell-size", width: Number(cell[2]), height: Number(cell[1]) };
  return isReply(sequence) ? { type: "other" } : undefined;
};

/** Scales a colour channel of one to four hex digits to eight bits. */
const eightBits = (part: string): number => Math.round((Number.parseInt(part, 16) / (16 ** part.length - 1)) * 255);

/** Modes, flags, sizes, versions, cursor positions, and all string sequences. A cursor position on the first row looks like F3. */
const isReply = (sequence: string): boolean =>
  /^(?:[\]P_^X]|\[[?>=][\d;]*[a-zA-Z$]|\[[?]?[\d;]+\$y|\[(?!1;)\d+;\d+R|\[[\d;]+t|\[\d*n)/.test(sequence);
