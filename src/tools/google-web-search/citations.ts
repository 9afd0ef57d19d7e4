import type { GroundedAnswer } from "../capabilities.ts";

/** A grounded answer with `[1]` after the text each source supports, and the sources below it. */
export const addCitations = ({ text, sources, supports }: Omit<GroundedAnswer, "failed">): string =>
  addSources(insertMarkers(text, supports, sources.length), sources);

/** A text with its sources listed below it. */
export const addSources = (text: string, sources: GroundedAnswer["sources"]): string => {
  if (sources.length === 0) return text;
  const lines = sources.map(({ title, uri }, at) => `[${at + 1}] ${oneLine(title) || "Untitled"} (${oneLine(uri)})`);
  return `${text}\n\nSources:\n${lines.join("\n")}`;
};

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/**
 * Google's offsets count UTF-8 bytes. An offset within a character counts as its end, one past the text as the end of
 * the text.
 */
const insertMarkers = (text: string, supports: GroundedAnswer["supports"], count: number): string => {
  const bytes = Buffer.from(text);
  const marks = new Map<number, Set<number>>();
  for (const { end, sources } of supports) {
    const named = sources.filter((source) => Number.isInteger(source) && source >= 0 && source < count);
    if (named.length === 0 || !(end > 0)) continue;
    const at = endOfCharacter(bytes, Math.min(Math.floor(end), bytes.length));
    marks.set(at, new Set([...(marks.get(at) ?? []), ...named]));
  }
  const places = [...marks].toSorted(([one], [other]) => one - other);
  const pieces = places.map(([at, named], index) => {
    const markers = [...named].toSorted((one, other) => one - other).map((source) => `[${source + 1}]`);
    return bytes.toString("utf8", places[index - 1]?.[0] ?? 0, at) + markers.join("");
  });
  return pieces.join("") + bytes.toString("utf8", places.at(-1)?.[0] ?? 0);
};

const endOfCharacter = (bytes: Buffer, from: number): number => {
  let at = from;
  while (at < bytes.length && ((bytes[at] ?? 0) & 0xc0) === 0x80) at += 1;
  return at;
};
