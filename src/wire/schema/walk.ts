import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";

/** A schema or subschema: `true` allows anything, `false` nothing. */
export type JsonSchemaNode = JsonObject | boolean;

/** The changes made to a schema: descriptions of changes, keywords moved into descriptions, and renamed arguments. */
export type SchemaChanges = {
  readonly done: Set<string>;
  readonly worded: Set<string>;
  readonly renamed: Map<string, string>;
};

/** Keywords that hold one schema, a list of them, or a map of them by name. */
export const singleSchemaKeywords: ReadonlySet<string> = new Set(
  (
    "items additionalProperties additionalItems unevaluatedProperties unevaluatedItems not if then " +
    "else contains propertyNames contentSchema"
  ).split(" "),
);
export const schemaListKeywords: ReadonlySet<string> = new Set(["anyOf", "oneOf", "allOf", "prefixItems"]);
export const schemaMapKeywords: ReadonlySet<string> = new Set(
  "properties patternProperties $defs definitions dependentSchemas".split(" "),
);

/** Whether a value can be read as a schema. */
export const isSchema = (value: JsonValue | undefined): value is JsonSchemaNode =>
  typeof value === "boolean" || isObject(value);

/** Returns the types of a schema as a list. */
export const typesOf = ({ type }: JsonObject): readonly string[] =>
  (Array.isArray(type) ? type : [type]).filter((name) => typeof name === "string");

/** Returns the schemas in a list, or none. */
export const schemasOf = (value: JsonValue | undefined): readonly JsonSchemaNode[] =>
  Array.isArray(value) ? value.filter(isSchema) : [];

/** Returns the properties of a schema by name, or none. */
export const propertiesOf = ({ properties }: JsonObject): JsonObject => (isObject(properties) ? properties : {});

/** Returns the names in `required`. */
export const requiredOf = ({ required }: JsonObject): readonly string[] =>
  Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];

/** Maps the direct subschemas of a schema; returns the same object if none changes. */
export const mapSubschemas = (
  schema: JsonObject,
  change: (inner: JsonSchemaNode, key: string) => JsonSchemaNode,
): JsonObject => {
  let copy: Record<string, JsonValue> | undefined;
  for (const [key, value] of Object.entries(schema)) {
    const changed = mapValue(key, value, change);
    if (changed !== value) (copy ??= { ...schema })[key] = changed;
  }
  return copy ?? schema;
};

const mapValue = (
  key: string,
  value: JsonValue,
  change: (inner: JsonSchemaNode, key: string) => JsonSchemaNode,
): JsonValue => {
  if (schemaMapKeywords.has(key)) return isObject(value) ? mapEntries(value, (inner) => change(inner, key)) : value;
  if (Array.isArray(value))
    return schemaListKeywords.has(key) || key === "items" ? mapList(value, (inner) => change(inner, key)) : value;
  return singleSchemaKeywords.has(key) && isSchema(value) ? change(value, key) : value;
};

const mapList = (
  list: readonly JsonValue[],
  change: (inner: JsonSchemaNode) => JsonSchemaNode,
): readonly JsonValue[] => {
  const changed = list.map((inner) => (isSchema(inner) ? change(inner) : inner));
  return changed.some((inner, index) => inner !== list[index]) ? changed : list;
};

const mapEntries = (map: JsonObject, change: (inner: JsonSchemaNode) => JsonSchemaNode): JsonObject => {
  const changed = Object.entries(map).map(([name, inner]) => [name, isSchema(inner) ? change(inner) : inner] as const);
  return changed.some(([name, inner]) => inner !== map[name]) ? Object.fromEntries(changed) : map;
};

/** Drops keywords from a schema; returns the same object if it has none of them. */
export const omitKeywords = (schema: JsonObject, drop: (key: string) => boolean): JsonObject => {
  const entries = Object.entries(schema);
  const kept = entries.filter(([key]) => !drop(key));
  return kept.length === entries.length ? schema : Object.fromEntries(kept);
};

/** Appends a sentence to a schema's description. */
export const appendDescription = (schema: JsonObject, words: string): JsonObject => {
  const { description } = schema;
  return {
    ...schema,
    description: typeof description === "string" && description !== "" ? `${description} ${words}` : words,
  };
};

/** Resolves a reference within the document. */
export const resolveReference = (document: JsonObject, reference: string): JsonSchemaNode | undefined => {
  if (reference === "#") return document;
  if (!reference.startsWith("#/")) return undefined;
  let at: JsonValue = document;
  for (const step of reference.slice(2).split("/")) {
    const key = unescapePointer(step);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as JsonObject)[key]!;
  }
  return isSchema(at) ? at : undefined;
};

/** Unescapes one step of a JSON pointer. */
export const unescapePointer = (step: string): string => {
  const plain = step.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
};
