import type { Json } from "./family.ts";

/** Whether a value is a JSON object. */
export const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The value if it is a JSON object, else an empty one. */
export const asObject = (value: unknown): Json => (isObject(value) ? value : {});

/** The value if it is an array, else an empty one. */
export const asArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The value if it is a string, else an empty one. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : "");

/** The value if it is a number. */
export const asNumber = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
