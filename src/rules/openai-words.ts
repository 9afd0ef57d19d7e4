import { isObject } from "./walk.ts";

/** A pointer in OpenAI's manner: `/messages/3/content/0` is `messages[3].content[0]`. */
export const path = (pointer: string): string =>
  steps(pointer).reduce(
    (text, step) => (isIndex(step) ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );

/** A pointer in Groq's manner: `/messages/3/content` is `messages.3.content`. */
export const dotted = (pointer: string): string => steps(pointer).join(".");

const steps = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const isIndex = (step: string): boolean => /^\d+$/.test(step);

/** The JSON type of a value with its article, as OpenAI's type errors name it. */
export const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (isObject(value)) return "an object";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "boolean" ? "a boolean" : "a string";
};

/** A value small enough to quote; containers are named instead, as a hostile one could be any size. */
export const shown = (value: unknown): string =>
  typeof value === "object" && value !== null ? kindOf(value) : String(value).slice(0, 200);

/** A value of the wrong JSON type. */
export const wrongType = (pointer: string, expected: string, value: unknown): string =>
  `Invalid type for '${path(pointer)}': expected ${expected}, but got ${kindOf(value)} instead.`;

/** A field that has to be there. */
export const missing = (pointer: string): string => `Missing required parameter: '${path(pointer)}'.`;

/** A field that does not exist. */
export const noSuchField = (pointer: string): string => `Unknown parameter: '${path(pointer)}'.`;

/** An array that may not be empty. */
export const emptyArray = (pointer: string): string =>
  `Invalid '${path(pointer)}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;

/** A text over its limit. */
export const tooLong = (pointer: string, limit: number, length: number): string =>
  `Invalid '${path(pointer)}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${length} instead.`;

/** A list over its limit. */
export const tooMany = (pointer: string, limit: number, length: number): string =>
  `Invalid '${path(pointer)}': array too long. Expected an array with maximum length ${limit}, but got an array with length ${length} instead.`;

/** A text that does not match its pattern. */
export const noMatch = (pointer: string, pattern: string): string =>
  `Invalid '${path(pointer)}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`;

/** True for a text that is one of these. */
export const isOneOf = (value: unknown, names: readonly string[]): value is string =>
  typeof value === "string" && names.includes(value);

/** A value outside a closed set. */
export const notAmong = (value: unknown, supported: readonly string[]): string =>
  `Invalid value: '${shown(value)}'. Supported values are: ${listed(supported)}.`;

/** Names as OpenAI lists them: `'a', 'b', and 'c'`. */
export const listed = (names: readonly string[]): string => {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 2) return quoted.join("");
  return quoted.length === 2 ? quoted.join(" and ") : `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
};
