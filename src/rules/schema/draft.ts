import { jsonTypeOf, quoteValue } from "../openai/error-text.ts";
import { typesOf, type SchemaNode, type SchemaProblem } from "./walk.ts";
import { isObject, join } from "../walk.ts";

const types: ReadonlySet<unknown> = new Set(["null", "boolean", "object", "array", "number", "integer", "string"]);
const numbers = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const counts = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"];
const texts = ["$ref", "$id", "$schema", "pattern", "format", "title", "description"];
const maps = ["properties", "patternProperties", "$defs", "definitions"];
const lists = ["anyOf", "oneOf", "allOf"];
const schemas = ["items", "additionalProperties", "not", "contains", "propertyNames"];

/** The problems that make a schema malformed in any draft: keywords with a value of the wrong type. */
export const draftProblems = (node: SchemaNode): readonly SchemaProblem[] => {
  const { value: schema, pointer } = node;
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [{ pointer, message: `${named(schema)} is not of type 'object', 'boolean'` }];
  const wrong = (key: string, message: string): SchemaProblem => ({ pointer: join(pointer, key), message });
  const held = (keys: readonly string[]) =>
    keys.filter((key) => schema[key] !== undefined).map((key) => ({ key, value: schema[key] }));
  return [
    ...(typesAreRight(schema)
      ? []
      : [wrong("type", `${named(schema["type"])} is not valid under any of the given schemas`)]),
    ...held(numbers).flatMap(({ key, value }) =>
      typeof value === "number" ? [] : [wrong(key, `${named(value)} is not of type 'number'`)],
    ),
    ...held(counts).flatMap(({ key, value }) =>
      isCount(value) ? [] : [wrong(key, `${named(value)} is not of type 'integer'`)],
    ),
    ...held(texts).flatMap(({ key, value }) =>
      typeof value === "string" ? [] : [wrong(key, `${named(value)} is not of type 'string'`)],
    ),
    ...held(maps).flatMap(({ key, value }) =>
      isObject(value) ? [] : [wrong(key, `${named(value)} is not of type 'object'`)],
    ),
    ...held(lists).flatMap(({ key, value }) => {
      if (!Array.isArray(value)) return [wrong(key, `${named(value)} is not of type 'array'`)];
      return value.length > 0 ? [] : [wrong(key, "[] should be non-empty")];
    }),
    ...held(schemas).flatMap(({ key, value }) =>
      isObject(value) || typeof value === "boolean" || (key === "items" && Array.isArray(value))
        ? []
        : [wrong(key, `${named(value)} is not of type 'object', 'boolean'`)],
    ),
    ...held(["enum"]).flatMap(({ key, value }) =>
      Array.isArray(value) ? [] : [wrong(key, `${named(value)} is not of type 'array'`)],
    ),
    ...requiredProblems(schema["required"], join(pointer, "required")),
  ];
};

const typesAreRight = (schema: Record<string, unknown>): boolean =>
  schema["type"] === undefined || (typesOf(schema).length > 0 && typesOf(schema).every((type) => types.has(type)));

const isCount = (value: unknown): boolean => typeof value === "number" && Number.isInteger(value) && value >= 0;

const requiredProblems = (required: unknown, pointer: string): readonly SchemaProblem[] => {
  if (required === undefined) return [];
  if (!Array.isArray(required)) return [{ pointer, message: `${named(required)} is not of type 'array'` }];
  return required.flatMap((name, index) =>
    typeof name === "string"
      ? []
      : [{ pointer: join(pointer, index), message: `${named(name)} is not of type 'string'` }],
  );
};

/** A value as a Python validator would print it. */
const named = (value: unknown): string => {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "object") return jsonTypeOf(value);
  return typeof value === "string" ? `'${quoteValue(value)}'` : quoteValue(value);
};
