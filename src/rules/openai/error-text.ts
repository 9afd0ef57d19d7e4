import { isObject } from "../walk.ts";

/** A pointer as OpenAI writes it: `/messages/3/content/0` becomes `messages[3].content[0]`. */
export const toPath = (pointer: string): string =>
  pointerSteps(pointer).reduce(
    (text, step) => (isIndex(step) ? `${text}[${step}]` : text === "" ? step : `${text}.${step}`),
    "",
  );

/** A pointer as Groq writes it: `/messages/3/content` becomes `messages.3.content`. */
export const toDottedPath = (pointer: string): string => pointerSteps(pointer).join(".");

const pointerSteps = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));

const isIndex = (step: string): boolean => /^\d+$/.test(step);

/** The JSON type of a value with its article, as OpenAI's type errors name it. */
export const jsonTypeOf = (value: unknown): string => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (isObject(value)) return "an object";
  if (typeof value === "number") return Number.isInteger(value) ? "an integer" : "a decimal";
  return typeof value === "boolean" ? "a boolean" : "a string";
};

/** A value as quoted in a message; objects and arrays are only named, because a hostile one could be any size. */
export const quoteValue = (value: unknown): string =>
  typeof value === "object" && value !== null ? jsonTypeOf(value) : String(value).slice(0, 200);

/** The message for a value of the wrong JSON type. */
export const wrongType = (pointer: string, expected: string, value: unknown): string =>
  `Invalid type for '${toPath(pointer)}': expected ${expected}, but got ${jsonTypeOf(value)} instead.`;

/** The message for a missing required field. */
export const missingParameter = (pointer: string): string => `Missing required parameter: '${toPath(pointer)}'.`;

/** The message for an unknown field. */
export const unknownParameter = (pointer: string): string => `Unknown parameter: '${toPath(pointer)}'.`;

/** The message for an empty array. */
export const emptyArray = (pointer: string): string =>
  `Invalid '${toPath(pointer)}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;

/** The message for a text over its limit. */
export const tooLong = (pointer: string, limit: number, length: number): string =>
  `Invalid '${toPath(pointer)}': string too long. Expected a string with maximum length ${limit}, but got a string with length ${length} instead.`;

/** The message for a list over its limit. */
export const tooMany = (pointer: string, limit: number, length: number): string =>
  `Invalid '${toPath(pointer)}': array too long. Expected an array with maximum length ${limit}, but got an array with length ${length} instead.`;

/** The message for a text that does not match its pattern. */
export const patternMismatch = (pointer: string, pattern: string): string =>
  `Invalid '${toPath(pointer)}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`;

/** True for a text that is one of these. */
export const isOneOf = (value: unknown, names: readonly string[]): value is string =>
  typeof value === "string" && names.includes(value);

/** The message for a value outside a closed set. */
export const invalidValue = (value: unknown, supported: readonly string[]): string =>
  `Invalid value: '${quoteValue(value)}'. Supported values are: ${listNames(supported)}.`;

/** Names as OpenAI lists them: `'a', 'b', and 'c'`. */
export const listNames = (names: readonly string[]): string => {
  const quoted = names.map((name) => `'${name}'`);
  if (quoted.length < 2) return quoted.join("");
  return quoted.length === 2 ? quoted.join(" and ") : `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`;
};
