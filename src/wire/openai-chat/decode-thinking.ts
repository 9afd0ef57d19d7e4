import { isObject, toPlainJson } from "../../conversation/json.ts";
import type { Seal, Thinking } from "../../conversation/parts.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";

/** Reasoning that may still be arriving. */
export type OpenThinking = {
  readonly index: number;
  readonly text: string;
  readonly signature?: string;
  /** What goes back verbatim (`reasoning_details`), pieces put together. */
  readonly details?: readonly unknown[];
};

/** The thinking part a thought amounts to. */
export const thinkingPart = ({ text, signature, details }: OpenThinking): Thinking => {
  if (details !== undefined)
    return { type: "thinking", text, seal: { details: toPlainJson(details).value as NonNullable<Seal["details"]> } };
  return signature === undefined ? { type: "thinking", text } : { type: "thinking", text, seal: { signature } };
};

/**
 * The reasoning in a delta, under whichever name; undefined where it has none.
 * Servers that use two names say the same under both.
 */
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

/** The text and signature of one of Mistral's thinking chunks. */
export const parseThinkingChunk = ({ thinking, signature }: Record<string, unknown>): Omit<OpenThinking, "index"> => {
  const text =
    stringOf(thinking) ??
    arrayOf(thinking)
      .map((chunk) => stringOf(chunk) ?? stringOf(objectOf(chunk)["text"]) ?? "")
      .join("");
  return typeof signature === "string" && signature !== "" ? { text, signature } : { text };
};

/** Details after the pieces of one more delta: what belongs to one detail becomes one. */
export const mergeDetails = (
  details: readonly unknown[],
  pieces: readonly unknown[],
  add: (said: string, piece: string) => string,
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

/** Two pieces of a detail as one: words are added, anything else is kept from whichever has it. */
const mergeDetail = (
  detail: Record<string, unknown>,
  piece: Record<string, unknown>,
  add: (said: string, piece: string) => string,
): Record<string, unknown> => {
  const whole = { ...detail };
  for (const [field, value] of Object.entries(piece)) {
    const said = detail[field];
    if ((field === "text" || field === "summary") && typeof value === "string")
      whole[field] = typeof said === "string" ? said + add(said, value) : value;
    else if (isBlank(said)) whole[field] = value;
  }
  return whole;
};
