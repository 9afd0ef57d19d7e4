import { isObject } from "../conversation/json.ts";

/** A record of another agent's file: an object with anything in it. */
export type ForeignRecord = Readonly<Record<string, unknown>>;

/** Returns the value if it is an object, otherwise an empty object. */
export const objectOf = (value: unknown): ForeignRecord => (isObject(value) ? value : {});

/** Returns the value if it is a list, otherwise an empty one. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** Returns the objects of a list. */
export const objectsOf = (value: unknown): readonly ForeignRecord[] => listOf(value).filter(isObject);

/** Returns the value if it is a text, otherwise an empty one. */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Returns the value if it is a text that is not empty. */
export const wordOf = (value: unknown): string | undefined =>
  typeof value === "string" && value !== "" ? value : undefined;

/** Returns a point in time in milliseconds, from a number of milliseconds or seconds or from ISO text; undefined for anything else. */
export const timeOf = (value: unknown): number | undefined => {
  if (typeof value === "number" && Number.isFinite(value)) return value < 1e11 ? value * 1000 : value;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? undefined : time;
};

/** Parses JSON that is an object; undefined for anything else, and for values nested too deeply to be handled safely. */
export const parseObject = (text: string): ForeignRecord | undefined => {
  const value = parseJson(text);
  return isObject(value) ? value : undefined;
};

/** Parses JSON; undefined for anything else, and for values nested too deeply to be handled safely. */
const parseJson = (text: string): unknown => {
  try {
    const value: unknown = JSON.parse(text);
    return isShallow(value, maxDepth) ? value : undefined;
  } catch {
    return undefined;
  }
};

/** Deeper values would exhaust the stack of the functions that walk them. No agent writes any. */
const maxDepth = 200;

const isShallow = (value: unknown, depth: number): boolean => {
  if (typeof value !== "object" || value === null) return true;
  if (depth === 0) return false;
  return Object.values(value).every((item) => isShallow(item, depth - 1));
};
