import { estimateTokens } from "../../context/estimate-tokens.ts";
import type { Compaction, Entry, MediaCopy } from "../../conversation/entry.ts";
import type { Content, Media, Part } from "../../conversation/parts.ts";
import { truncateMiddle } from "../../transcript/shorten-results.ts";

/** A conversation as text in chunks, and the number of entries left out of it. */
export type TextChunks = { readonly chunks: readonly string[]; readonly leftOut: number };

/** The tokens of each chunk, and the most chunks. */
export type ChunkLimits = { readonly tokens: number; readonly maxChunks: number };

/** The most characters of a single text, tried in this order until everything fits. */
const textLimits = [Number.POSITIVE_INFINITY, 20_000, 8000, 4000, 2000, 1000, 500, 200];

/**
 * Splits a conversation, as plain text, into chunks for a model to read one after the other. If there would be too many
 * chunks, long texts lose their middle, then entries in the middle are left out; the text says so.
 */
export const chunkConversation = (entries: readonly Entry[], { tokens, maxChunks }: ChunkLimits): TextChunks => {
  const visible = entries.filter((entry) => entry.type !== "compaction" && entry.type !== "copy");
  for (const maxLength of textLimits) {
    const chunks = splitIntoChunks(
      visible.map((entry) => entryText(entry, maxLength)),
      tokens,
    );
    if (chunks.length <= maxChunks) return { chunks, leftOut: 0 };
  }
  return withoutMiddle(visible, { tokens, maxChunks });
};

/** Keeps the first quarter, with the original request, and fills the rest from the end, with the current state. */
const withoutMiddle = (visible: readonly VisibleEntry[], { tokens, maxChunks }: ChunkLimits): TextChunks => {
  const texts = visible.map((entry) => entryText(entry, textLimits.at(-1) ?? 0));
  const sizes = texts.map(estimateTokens);
  // Half of the tokens, since chunks are not filled to their last token.
  const room = (maxChunks * tokens) / 2;
  const first = countWithin(sizes, room / 4);
  const last = countWithin(sizes.slice(first).toReversed(), room - room / 4);
  const leftOut = texts.length - first - last;
  const gap = `(${leftOut} entries are left out here. The session log keeps them.)`;
  return {
    chunks: splitIntoChunks([...texts.slice(0, first), gap, ...texts.slice(texts.length - last)], tokens),
    leftOut,
  };
};

const countWithin = (sizes: readonly number[], limit: number): number => {
  let total = 0;
  const end = sizes.findIndex((size) => (total += size) > limit);
  return end === -1 ? sizes.length : end;
};

/** Joins texts up to a size. A larger one is split at the end of a line, or anywhere. */
const splitIntoChunks = (texts: readonly string[], tokens: number): readonly string[] => {
  const chunks: string[] = [];
  let chunk: string[] = [];
  let total = 0;
  const close = (): void => {
    if (chunk.length > 0) chunks.push(chunk.join("\n\n"));
    chunk = [];
    total = 0;
  };
  for (const text of texts)
    for (const part of splitText(text, tokens)) {
      const size = estimateTokens(part) + 1;
      if (total + size > tokens) close();
      chunk.push(part);
      total += size;
    }
  close();
  return chunks;
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

const entryText = (entry: VisibleEntry, maxLength: number): string => {
  const truncate = (text: string): string => truncateMiddle(text, maxLength);
  switch (entry.type) {
    case "user":
      return `### Person\n${entry.parts.map((part) => (part.type === "text" ? truncate(part.text) : fileText(part))).join("\n")}`;
    case "model":
      return `### Model\n${entry.parts.flatMap((part) => partText(part, truncate)).join("\n")}`;
    case "completion": {
      const { tool, outcome } = entry;
      return `### Result of ${tool} (${outcome.status})\n${outcome.content.map((part) => contentText(part, truncate)).join("\n")}`;
    }
    case "notice":
      return `### Notice\n${truncate(entry.text)}`;
  }
};

const partText = (part: Part, truncate: (text: string) => string): readonly string[] => {
  switch (part.type) {
    case "text":
    case "code":
      return [truncate(part.text)];
    case "thinking":
      return [];
    case "media":
      return [fileText(part)];
    case "call": {
      const { input } = part;
      return [
        `Called ${part.tool} with ${truncate(input.type === "parsed" ? JSON.stringify(input.value) : input.text)}`,
      ];
    }
  }
};

const contentText = (part: Content, truncate: (text: string) => string): string => {
  switch (part.type) {
    case "text":
      return truncate(part.text);
    case "structured":
      return truncate(JSON.stringify(part.value));
    case "media":
      return fileText(part);
  }
};

const fileText = ({ kind, id, name }: Media): string => `[${kind} ${id}${name === undefined ? "" : ` "${name}"`}]`;
