import { estimateMedia, estimateTokens } from "../context/estimate-tokens.ts";
import type { Conversation, Entry } from "../conversation/entry.ts";
import type { Content, Part } from "../conversation/parts.ts";

/** Estimates the input tokens of a conversation, system prompt and tools included. */
export const estimateConversation = ({ system, tools, entries }: Conversation): number =>
  estimateTokens(system ?? "") +
  (tools === undefined ? 0 : estimateTokens(JSON.stringify(tools))) +
  entries.reduce((sum, entry) => sum + estimateEntry(entry), 0);

/**
 * Estimates the input tokens from the length of the request, without reading its texts: for the figure at the start of a
 * stream, which its end corrects.
 */
export const estimateFromBytes = ({ entries }: Conversation, bytes: number): number => {
  const media = entries.flatMap((entry) => partsOf(entry).filter((part) => part.type === "media"));
  const encoded = media.reduce((sum, { source }) => sum + (source.type === "blob" ? (source.bytes * 4) / 3 : 0), 0);
  const tokens = media.reduce((sum, part) => sum + estimateMedia(part), 0);
  return tokens + Math.ceil(Math.max(0, bytes - encoded) / bytesPerToken);
};

const bytesPerToken = 4;

/** Whether a conversation holds images or documents. */
export const hasFiles = ({ entries }: Conversation): boolean => entries.some((entry) => partsOf(entry).some(isFile));

const isFile = (part: Part | Content): boolean =>
  part.type === "media" && (part.kind === "image" || part.kind === "document");

const partsOf = (entry: Entry): readonly (Part | Content)[] => {
  switch (entry.type) {
    case "user":
    case "model":
      return entry.parts;
    case "completion":
      return entry.outcome.content;
    case "compaction":
      return [{ type: "text", text: entry.summary }];
    case "notice":
      return [{ type: "text", text: entry.text }];
    case "copy":
      return [];
  }
};

/** The frame of a message: role, delimiters and ids. */
const frameTokens = 4;

const estimateEntry = (entry: Entry): number =>
  partsOf(entry).reduce((sum, part) => sum + estimatePart(part), frameTokens);

const estimatePart = (part: Part | Content): number => {
  switch (part.type) {
    case "text":
    case "thinking":
    case "code":
      return estimateTokens(part.text);
    case "structured":
      return estimateTokens(JSON.stringify(part.value));
    case "media":
      return estimateMedia(part);
    case "call": {
      const { input, tool } = part;
      const text = input.type === "parsed" ? (input.text ?? JSON.stringify(input.value)) : input.text;
      return 2 * frameTokens + estimateTokens(tool) + estimateTokens(text);
    }
  }
};
