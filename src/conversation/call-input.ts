import { isObject, toPlainJson, type JsonObject } from "./json.ts";
import type { CallInput } from "./parts.ts";

/** A tool call's arguments as a provider sent them: JSON text on some APIs, a parsed value on others. */
export type RawCallInput = { readonly text: string } | { readonly value: unknown };

/** Parses a tool call's arguments into an object; text that is no JSON object is kept as `malformed`. */
export const parseCallInput = (raw: RawCallInput): CallInput =>
  "text" in raw ? fromText(raw.text) : fromValue(raw.value);

/** Returns the arguments as an object, for APIs that require one. Malformed text is wrapped in `unreadable_arguments`. */
export const inputObject = (input: CallInput): JsonObject =>
  input.type === "parsed" ? input.value : { unreadable_arguments: input.text };

const fromText = (text: string): CallInput => {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return { type: "parsed", value: {} };
  try {
    const value: unknown = JSON.parse(trimmed);
    if (!isObject(value)) return { type: "malformed", text: text.toWellFormed() };
    const plain = toPlainJson(value).value as JsonObject;
    return text.isWellFormed() ? { type: "parsed", value: plain, text } : { type: "parsed", value: plain };
  } catch {
    return { type: "malformed", text: text.toWellFormed() };
  }
};

const fromValue = (value: unknown): CallInput => {
  if (value === undefined || value === null) return { type: "parsed", value: {} };
  if (typeof value === "string") return fromText(value);
  const plain = toPlainJson(value).value;
  return isObject(plain)
    ? { type: "parsed", value: plain as JsonObject }
    : { type: "malformed", text: JSON.stringify(plain) };
};
