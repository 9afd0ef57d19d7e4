import { isObject, type JsonObject } from "../conversation/json.ts";

/** Where a value does not fit, and what was expected there. */
export type Mismatch = { readonly path: readonly (string | number)[]; readonly expected: string };

/**
 * What a schema of a stranger says against a value, as far as it can be told at a glance: types, values to choose from,
 * what is required and what is not known. The rest is for the server itself to judge. No pattern of theirs is ever
 * compiled, and nothing is looked up.
 */
export const mismatchesOf = (schema: JsonObject, value: unknown): readonly Mismatch[] => {
  const found: Mismatch[] = [];
  look(schema, value, [], found);
  return found;
};

const mostDepth = 20;
const mostFound = 20;

const look = (schema: unknown, value: unknown, path: readonly (string | number)[], found: Mismatch[]): void => {
  if (!isObject(schema) || path.length > mostDepth || found.length >= mostFound) return;
  const expected = expectation(schema, value);
  if (expected !== undefined) return void found.push({ path, expected });
  if (Array.isArray(value)) {
    if (isObject(schema["items"])) value.forEach((item, index) => look(schema["items"], item, [...path, index], found));
    return;
  }
  if (isObject(value)) lookInside(schema, value, path, found);
};

const lookInside = (
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
  found: Mismatch[],
): void => {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const known = (name: string): unknown => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  for (const name of Array.isArray(schema["required"]) ? schema["required"] : [])
    if (typeof name === "string" && (!Object.hasOwn(value, name) || value[name] === undefined))
      found.push({ path: [...path, name], expected: typeWords(known(name)) });
  for (const [name, item] of Object.entries(value))
    if (known(name) !== undefined) look(known(name), item, [...path, name], found);
    else if (schema["additionalProperties"] === false && schema["patternProperties"] === undefined)
      found.push({ path: [...path, name], expected: "no such parameter" });
};

/** What one schema wants a value to be, where it is not. */
const expectation = (schema: Readonly<Record<string, unknown>>, value: unknown): string | undefined => {
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => isOfType(type, value))) return types.join(" or ");
  const choices = schema["enum"];
  if (!Array.isArray(choices) || typeof value === "object" || choices.includes(value)) return undefined;
  return `one of ${choices
    .slice(0, 20)
    .map((choice) => JSON.stringify(choice))
    .join(", ")}`;
};

const typesOf = (schema: Readonly<Record<string, unknown>>): readonly string[] => {
  const types = [schema["type"]].flat().filter((type) => typeof type === "string");
  return schema["nullable"] === true && types.length > 0 ? [...types, "null"] : types;
};

const typeWords = (schema: unknown): string =>
  isObject(schema) && typesOf(schema).length > 0 ? typesOf(schema).join(" or ") : "a value";

const isOfType = (type: string, value: unknown): boolean => {
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return true;
  }
};
