import { isObject, type JsonObject, type JsonValue } from "../conversation/json.ts";

/** Arguments in which every key has a name; the same object where all of them have. */
export const withNamedKeys = (input: JsonObject): JsonObject =>
  hasEmptyKey(input) ? (nameKeys(input) as JsonObject) : input;

/** Arguments with some of their keys under another name; the same object where it has none of them. */
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
