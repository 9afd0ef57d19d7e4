import { isObject, toPlainJson, type JsonObject } from "./json.ts";
import type { CallInput } from "./parts.ts";

/** A call's arguments as a provider gave them: text on some APIs, a value on others. */
export type RawCallInput = { readonly text: string } | { readonly value: unknown };

/** The arguments as an object, or as the text that could not be read as one. */
export const parseCallInput = (raw: RawCallInput): CallInput =>
  "text" in raw ? fromText(raw.text) : fromValue(raw.value);

/** What an API that demands an object receives in place of arguments that are none. */
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
