import type { TerminalReply } from "./key-event.ts";

/** What a sequence answers, given what stands after its escape; or undefined when it is no answer. */
export const parseReply = (sequence: string): TerminalReply | undefined => {
  const attributes = /^\[\?([\d;]*)c$/.exec(sequence);
  if (attributes !== null) return { type: "attributes", attributes: (attributes[1] ?? "").split(";").map(Number) };
  const ground = /^\]11;rgba?:([\da-f]{1,4})\/([\da-f]{1,4})\/([\da-f]{1,4})/i.exec(sequence);
  if (ground !== null)
    return { type: "ground", rgb: ground.slice(1).reduce((rgb, part) => rgb * 256 + eightBits(part), 0) };
  const pictures = /^_Gi=31(?:,[^;]*)?;(\w+)/.exec(sequence);
  if (pictures !== null) return { type: "pictures", isKitty: pictures[1] === "OK" };
  const letter = /^\[6;([1-9]\d{1,2});([1-9]\d{0,2})t$/.exec(sequence);
  if (letter !== null) return { type: "letter", width: Number(letter[2]), height: Number(letter[1]) };
  return isReply(sequence) ? { type: "other" } : undefined;
};

/** The highest bits of a colour's part, which comes in one to four digits. */
const eightBits = (part: string): number => Math.round((Number.parseInt(part, 16) / (16 ** part.length - 1)) * 255);

/** Modes, flags, sizes, versions, places of the cursor, and every kind of text. The place on the first row looks like F3. */
const isReply = (sequence: string): boolean =>
  /^(?:[\]P_^X]|\[[?>=][\d;]*[a-zA-Z$]|\[[?]?[\d;]+\$y|\[(?!1;)\d+;\d+R|\[[\d;]+t|\[\d*n)/.test(sequence);
