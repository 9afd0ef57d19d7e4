import { isObject, type JsonObject, type JsonValue } from "../conversation/json.ts";

/** Renames empty keys in arguments, at any depth; returns the same object if there are none. */
export const withNamedKeys = (input: JsonObject): JsonObject =>
  hasEmptyKey(input) ? (nameKeys(input) as JsonObject) : input;

/** Renames top-level keys of arguments; returns the same object if it has none of them. */
export const withRenamedKeys = (input: JsonObject, names: ReadonlyMap<string, string>): JsonObject =>
  Object.keys(input).some((key) => names.has(key))
    ? Object.fromEntries(Object.entries(input).map(([key, value]) => [names.get(key) ?? key, value]))
    : input;

const hasEmptyKey = (value: JsonValue): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(hasEmptyKey);
  const object = value as JsonObject;
  for (const key in object) if (key === "" || hasEmptyKey(object[key]!)) return true;
  return false;
};

const nameKeys = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(nameKeys);
  if (!isObject(value)) return value;
  let name = "_";
  while (Object.hasOwn(value, name)) name += "_";
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key === "" ? name : key, nameKeys(item)]));
};
