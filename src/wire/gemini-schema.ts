import { isObject, type JsonObject, type JsonValue } from "../conversation/index.ts";
import { arrayOf, objectOf, stringOf } from "./reader.ts";
import type { Adapted } from "./schema.ts";

/** Gemini: an object at the top, keywords that hold what they should, and no schema at all where there are no parameters. */
export const toGeminiSchema = (parameters: JsonObject | undefined): Adapted | undefined => {
  if (parameters === undefined) return undefined;
  const fit = fitSchema(parameters) as JsonObject;
  const schema = fit["type"] === "object" ? fit : { ...fit, type: "object" };
  if (Object.entries(schema).every(([key, value]) => saysNothing(key, value))) return undefined;
  return schema === parameters
    ? { schema }
    : { schema, changed: "the top is an object, and keywords with unfit values are gone" };
};

const saysNothing = (key: string, value: JsonValue): boolean => {
  switch (key) {
    case "type":
    case "title":
    case "description":
    case "$schema":
      return true;
    case "properties":
    case "required":
      return typeof value === "object" && value !== null && Object.keys(value).length === 0;
    case "additionalProperties":
      return value === false;
    default:
      return false;
  }
};

/** The same schema, the very same object where nothing had to change. */
const fitSchema = (schema: JsonValue): JsonValue => {
  if (Array.isArray(schema)) return mapKept(schema, fitSchema);
  return isObject(schema) ? fitEntries(schema as JsonObject, fitKeyword) : schema;
};

const fitKeyword = (key: string, value: JsonValue): JsonValue | undefined => {
  if (dataKeywords.has(key)) return value;
  if (value === null) return undefined;
  if (boundKeywords.has(key)) return fitBound(value);
  if (key === "required") return fitNames(value);
  if (key === "nullable") return typeof value === "boolean" ? value : undefined;
  if (mapKeywords.has(key) && isObject(value))
    return fitEntries(value as JsonObject, (_, inner) => fitSchema(inner) ?? undefined);
  return fitSchema(value);
};

const fitNames = (value: JsonValue): JsonValue | undefined => {
  if (!Array.isArray(value)) return undefined;
  return value.every((name) => typeof name === "string") ? value : value.filter((name) => typeof name === "string");
};

const fitBound = (value: JsonValue): number | undefined => {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
};

const fitEntries = (object: JsonObject, fit: (key: string, value: JsonValue) => JsonValue | undefined): JsonObject => {
  const entries = Object.entries(object);
  const kept = entries.flatMap(([key, value]): [string, JsonValue][] => {
    const fitted = fit(key, value);
    return fitted === undefined ? [] : [[key, fitted]];
  });
  const same = kept.length === entries.length && kept.every(([key, value]) => object[key] === value);
  return same ? object : Object.fromEntries(kept);
};

const mapKept = (values: readonly JsonValue[], fit: (value: JsonValue) => JsonValue): readonly JsonValue[] => {
  const kept = values.map(fit);
  return kept.every((value, index) => value === values[index]) ? values : kept;
};

/** Keywords whose content is data, not schema. */
const dataKeywords: ReadonlySet<string> = new Set(["default", "const", "enum", "example", "examples"]);

/** Keywords that hold schemas by name. */
const mapKeywords: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "$defs",
  "definitions",
  "dependentSchemas",
]);

const boundKeywords: ReadonlySet<string> = new Set([
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
]);

/** A schema in Google's subset of OpenAPI as JSON Schema: types in small letters, numbers as numbers, null as a type. */
export const fromOpenApi = (schema: unknown): unknown => {
  if (!isObject(schema)) return schema;
  const { type, nullable, ...rest } = schema;
  const plain = stringOf(type)?.toLowerCase() ?? type;
  const types = nullable === true && typeof plain === "string" ? [plain, "null"] : plain;
  return {
    ...(types === undefined || types === "type_unspecified" ? {} : { type: types }),
    ...Object.fromEntries(Object.entries(rest).flatMap(([key, value]) => readKeyword(camelCase(key), value))),
  };
};

const readKeyword = (key: string, value: unknown): readonly [string, unknown][] => {
  switch (key) {
    case "propertyOrdering":
      return [];
    case "example":
      return [["examples", [value]]];
    case "properties":
      return [
        [key, Object.fromEntries(Object.entries(objectOf(value)).map(([name, inner]) => [name, fromOpenApi(inner)]))],
      ];
    case "items":
    case "additionalProperties":
      return [[key, fromOpenApi(value)]];
    case "anyOf":
      return [[key, arrayOf(value).map(fromOpenApi)]];
    default:
      return [[key, /^(min|max)/.test(key) && /^\d+$/.test(stringOf(value) ?? "") ? Number(value) : value]];
  }
};

const camelCase = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
