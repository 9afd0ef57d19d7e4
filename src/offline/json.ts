/** Returns a value as an object, or an empty object. */
export const objectOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {});

/** Whether a value is an object and not an array. */
export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns a value as a list, or an empty list. */
export const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? (value as readonly unknown[]) : [];

/** Returns a value as text, or "". */
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");

/** Parses JSON; undefined if it is invalid. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
