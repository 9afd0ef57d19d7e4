import { isObject, type JsonObject } from "../../conversation/json.ts";

/** The path of a value that does not fit, and what was expected. */
export type InputMismatch = { readonly path: readonly (string | number)[]; readonly expected: string };

/**
 * Checks a value against a foreign schema: types, enums, required and unknown parameters. Everything else is left to
 * the server. No regular expression is compiled and no reference is followed.
 */
export const findMismatches = (schema: JsonObject, value: unknown): readonly InputMismatch[] => {
  const found: InputMismatch[] = [];
  checkValue(schema, value, [], found);
  return found;
};

const maxDepth = 20;
const maxMismatches = 20;

const checkValue = (
  schema: unknown,
  value: unknown,
  path: readonly (string | number)[],
  found: InputMismatch[],
): void => {
  if (!isObject(schema) || path.length > maxDepth || found.length >= maxMismatches) return;
  const expected = findExpectation(schema, value);
  if (expected !== undefined) return void found.push({ path, expected });
  if (Array.isArray(value)) {
    if (isObject(schema["items"]))
      value.forEach((item, index) => checkValue(schema["items"], item, [...path, index], found));
    return;
  }
  if (isObject(value)) checkProperties(schema, value, path, found);
};

const checkProperties = (
  schema: Readonly<Record<string, unknown>>,
  value: Readonly<Record<string, unknown>>,
  path: readonly (string | number)[],
  found: InputMismatch[],
): void => {
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const known = (name: string): unknown => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  for (const name of Array.isArray(schema["required"]) ? schema["required"] : [])
    if (typeof name === "string" && (!Object.hasOwn(value, name) || value[name] === undefined))
      found.push({ path: [...path, name], expected: describeTypes(known(name)) });
  for (const [name, item] of Object.entries(value))
    if (known(name) !== undefined) checkValue(known(name), item, [...path, name], found);
    else if (schema["additionalProperties"] === false && schema["patternProperties"] === undefined)
      found.push({ path: [...path, name], expected: "no such parameter" });
};

/** The expectation of a schema that a value does not meet. */
const findExpectation = (schema: Readonly<Record<string, unknown>>, value: unknown): string | undefined => {
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

const describeTypes = (schema: unknown): string =>
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
