import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { arrayOf, objectOf, stringOf } from "../reader.ts";
import { geminiSchema, type AdaptedSchema } from "../schema/adapt.ts";

/** Adapts a tool's parameters for Gemini; undefined where there are none, since the field is then left out. */
export const toGeminiSchema = (parameters: JsonObject | undefined): AdaptedSchema | undefined => {
  if (parameters === undefined) return undefined;
  const adapted = geminiSchema(parameters);
  return Object.entries(adapted.schema).every(([key, value]) => isEmptyKeyword(key, value)) ? undefined : adapted;
};

const isEmptyKeyword = (key: string, value: JsonValue): boolean => {
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

/** Converts a schema in Google's OpenAPI subset to JSON Schema: lower-case types, numbers as numbers, null as a type. */
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
