import { estimateTokens } from "../../context/estimate-tokens.ts";
import type { Compaction, Entry, MediaCopy } from "../../conversation/entry.ts";
import type { Content, Media, Part } from "../../conversation/parts.ts";
import { truncateMiddle } from "../../transcript/shorten-results.ts";

/** A conversation as text in pieces, and how many entries had to be left out of it. */
export type TextChunks = { readonly chunks: readonly string[]; readonly leftOut: number };

/** What pieces are made within: tokens of each, and how many there may be. */
export type ChunkLimits = { readonly tokens: number; readonly maxChunks: number };

/** How long a single text may be, in characters, tried in this order until everything fits. */
const textLimits = [Number.POSITIVE_INFINITY, 20_000, 8000, 4000, 2000, 1000, 500, 200];

/**
 * A conversation as plain text, cut into pieces that a model can read one after the other. Where there would be more
 * pieces than allowed, long texts lose their middle, then entries in the middle are left out; the text says so.
 */
export const chunkConversation = (entries: readonly Entry[], { tokens, maxChunks: most }: ChunkLimits): TextChunks => {
  const said = entries.filter((entry) => entry.type !== "compaction" && entry.type !== "copy");
  for (const longest of textLimits) {
    const pieces = splitIntoChunks(
      said.map((entry) => entryText(entry, longest)),
      tokens,
    );
    if (pieces.length <= most) return { chunks: pieces, leftOut: 0 };
  }
  return withoutMiddle(said, { tokens, maxChunks: most });
};

/** The first quarter and the rest from the end: what was asked for stands first, and what counts now stands last. */
const withoutMiddle = (said: readonly VisibleEntry[], { tokens, maxChunks: most }: ChunkLimits): TextChunks => {
  const texts = said.map((entry) => entryText(entry, textLimits.at(-1) ?? 0));
  const sizes = texts.map(estimateTokens);
  // Half of what would fit, since pieces are not filled to their last token.
  const room = (most * tokens) / 2;
  const first = countWithin(sizes, room / 4);
  const last = countWithin(sizes.slice(first).toReversed(), room - room / 4);
  const leftOut = texts.length - first - last;
  const gap = `(${leftOut} entries are left out here. The session log keeps them.)`;
  return {
    chunks: splitIntoChunks([...texts.slice(0, first), gap, ...texts.slice(texts.length - last)], tokens),
    leftOut,
  };
};

const countWithin = (sizes: readonly number[], most: number): number => {
  let held = 0;
  const end = sizes.findIndex((size) => (held += size) > most);
  return end === -1 ? sizes.length : end;
};

/** Joins texts up to a size; one that is larger is cut where a line ends, or anywhere. */
const splitIntoChunks = (texts: readonly string[], tokens: number): readonly string[] => {
  const pieces: string[] = [];
  let piece: string[] = [];
  let held = 0;
  const close = (): void => {
    if (piece.length > 0) pieces.push(piece.join("\n\n"));
    piece = [];
    held = 0;
  };
  for (const text of texts)
    for (const part of splitText(text, tokens)) {
      const size = estimateTokens(part) + 1;
      if (held + size > tokens) close();
      piece.push(part);
      held += size;
    }
  close();
  return pieces;
};

const splitText = (text: string, tokens: number): readonly string[] => {
  const size = estimateTokens(text);
  if (size + 1 <= tokens || text.length < 2) return [text];
  const middle = Math.floor(text.length / 2);
  const line = text.lastIndexOf("\n", middle);
  const at = line > text.length / 4 ? line + 1 : middle;
  return [text.slice(0, at), text.slice(at)].flatMap((half) => splitText(half.toWellFormed(), tokens));
};

type VisibleEntry = Exclude<Entry, Compaction | MediaCopy>;

const entryText = (entry: VisibleEntry, longest: number): string => {
  const short = (text: string): string => truncateMiddle(text, longest);
  switch (entry.type) {
    case "user":
      return `### Person\n${entry.parts.map((part) => (part.type === "text" ? short(part.text) : fileText(part))).join("\n")}`;
    case "model":
      return `### Model\n${entry.parts.flatMap((part) => partText(part, short)).join("\n")}`;
    case "completion": {
      const { tool, outcome } = entry;
      return `### Result of ${tool} (${outcome.status})\n${outcome.content.map((part) => contentText(part, short)).join("\n")}`;
    }
    case "notice":
      return `### Notice\n${short(entry.text)}`;
  }
};

const partText = (part: Part, short: (text: string) => string): readonly string[] => {
  switch (part.type) {
    case "text":
    case "code":
      return [short(part.text)];
    case "thinking":
      return [];
    case "media":
      return [fileText(part)];
    case "call": {
      const { input } = part;
      return [`Called ${part.tool} with ${short(input.type === "parsed" ? JSON.stringify(input.value) : input.text)}`];
    }
  }
};

const contentText = (part: Content, short: (text: string) => string): string => {
  switch (part.type) {
    case "text":
      return short(part.text);
    case "structured":
      return short(JSON.stringify(part.value));
    case "media":
      return fileText(part);
  }
};

const fileText = ({ kind, id, name }: Media): string => `[${kind} ${id}${name === undefined ? "" : ` "${name}"`}]`;
