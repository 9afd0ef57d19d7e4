import { isObject, toPlainJson } from "../../conversation/json.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";

/** Reasoning that may still grow. */
export type OpenThinking = {
  readonly index: number;
  readonly text: string;
  readonly signature?: string;
  /** Assembled `reasoning_details`, which are sent back verbatim. */
  readonly details?: readonly unknown[];
};

/** Returns the thinking part. */
export const thinkingPart = ({ text, signature, details }: OpenThinking): Thinking => {
  if (details !== undefined)
    return { type: "thinking", text, seal: { details: toPlainJson(details).value as NonNullable<Seal["details"]> } };
  return signature === undefined ? { type: "thinking", text } : { type: "thinking", text, seal: { signature } };
};

/** Returns the reasoning text of a delta, under any of its names; undefined if there is none. Servers that use two names repeat the same text. */
export const reasoningOf = (delta: Record<string, unknown>): string | undefined => {
  const { reasoning_content: content, reasoning, reasoning_details: details } = delta;
  if (typeof content === "string" && content !== "") return content;
  if (typeof reasoning === "string" && reasoning !== "") return reasoning;
  if (Array.isArray(details)) return details.map(detailText).join("");
  return typeof content === "string" || typeof reasoning === "string" ? "" : undefined;
};

const detailText = (detail: unknown): string => {
  const { text, summary } = objectOf(detail);
  return stringOf(text) ?? stringOf(summary) ?? "";
};

/** Parses the text and signature of a Mistral thinking chunk. */
export const parseThinkingChunk = ({ thinking, signature }: Record<string, unknown>): Omit<OpenThinking, "index"> => {
  const text =
    stringOf(thinking) ??
    arrayOf(thinking)
      .map((chunk) => stringOf(chunk) ?? stringOf(objectOf(chunk)["text"]) ?? "")
      .join("");
  return typeof signature === "string" && signature !== "" ? { text, signature } : { text };
};

/** Merges the pieces of a delta into reasoning details: pieces of one detail become one. */
export const mergeDetails = (
  details: readonly unknown[],
  pieces: readonly unknown[],
  add: (previous: string, piece: string) => string,
): readonly unknown[] =>
  pieces.reduce<readonly unknown[]>((all, piece) => {
    const at = isObject(piece)
      ? all.findLastIndex((detail, index) => isContinuation(detail, piece, index === all.length - 1))
      : -1;
    return at === -1 ? [...all, piece] : all.with(at, mergeDetail(objectOf(all[at]), objectOf(piece), add));
  }, details);

/** Whether a piece continues a detail. Without an index it can only continue the last. */
const isContinuation = (detail: unknown, piece: Record<string, unknown>, isLast: boolean): boolean => {
  if (!isObject(detail) || detail["type"] !== piece["type"] || detail["index"] !== piece["index"]) return false;
  if (detail["index"] === undefined && !isLast) return false;
  if (differs(detail, piece, "id") || differs(detail, piece, "data") || differs(detail, piece, "signature"))
    return false;
  // A signature closes what it signs.
  return isBlank(detail["signature"]) || isBlank(piece["text"]);
};

const differs = (detail: Record<string, unknown>, piece: Record<string, unknown>, field: string): boolean =>
  !isBlank(detail[field]) && !isBlank(piece[field]) && detail[field] !== piece[field];

const isBlank = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Merges two pieces of a detail: text is appended, other fields are taken from the first that has them. */
const mergeDetail = (
  detail: Record<string, unknown>,
  piece: Record<string, unknown>,
  add: (previous: string, piece: string) => string,
): Record<string, unknown> => {
  const merged = { ...detail };
  for (const [field, value] of Object.entries(piece)) {
    const previous = detail[field];
    if ((field === "text" || field === "summary") && typeof value === "string")
      merged[field] = typeof previous === "string" ? previous + add(previous, value) : value;
    else if (isBlank(previous)) merged[field] = value;
  }
  return merged;
};
