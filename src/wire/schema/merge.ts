import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import {
  appendDescription,
  propertiesOf,
  requiredOf,
  resolveReference,
  schemasOf,
  typesOf,
  omitKeywords,
  type SchemaChanges,
  type JsonSchemaNode,
} from "./walk.ts";

/** The keywords that combine schemas. */
export type Combiner = "allOf" | "anyOf" | "oneOf";

/** The context of a merge. */
export type MergeContext = {
  /** The document that references point into. */
  readonly document: JsonObject;
  /** The combiners to merge; others are kept. */
  readonly words: readonly Combiner[];
  /** References followed to get here: following one again would not end. */
  readonly open: ReadonlySet<string>;
  /** The references followed while merging. */
  readonly met: Set<string>;
  /** How many more references may be followed: shared schemas could multiply exponentially. */
  readonly budget: { left: number };
};

/** The maximum number of references followed per schema. */
export const maxReferences = 200;

/** Returns a schema with `type: "object"` at the top and without the given combiners there. */
export const toObjectSchema = (schema: JsonObject, words: readonly Combiner[], changes: SchemaChanges): JsonObject => {
  const combined = ["$ref", ...words].some((key) => schema[key] !== undefined);
  if (!combined && schema["type"] === "object") return schema;
  changes.done.add(combined ? "the shapes at the top became one object" : "the top became an object");
  const merging: MergeContext = {
    document: schema,
    words,
    open: new Set(),
    met: new Set(),
    budget: { left: maxReferences },
  };
  const { type: _, ...shape } = combined ? mergeCombined(schema, merging) : schema;
  return { type: "object", ...(combined ? { properties: {} } : {}), ...shape };
};

/** Merges a reference with its siblings, and the combiners in `words`, into one schema. */
export const mergeCombined = (schema: JsonObject, merging: MergeContext): JsonObject => {
  const { $ref: reference, ...own } = schema;
  let shape: JsonObject = omitKeywords(own, (key) => merging.words.some((word) => word === key));
  if (typeof reference === "string") shape = mergeSchemas(shape, followReference(reference, merging));
  for (const word of merging.words) {
    const branches = schemasOf(schema[word]).flatMap((branch) =>
      typeof branch === "boolean" ? (branch ? [{}] : []) : [mergeCombined(branch, merging)],
    );
    shape = word === "allOf" ? branches.reduce(mergeSchemas, shape) : mergeBranches(shape, branches, word);
  }
  return shape;
};

const followReference = (reference: string, merging: MergeContext): JsonObject => {
  const target = merging.open.has(reference) ? undefined : resolveReference(merging.document, reference);
  if (!isObject(target) || merging.budget.left <= 0) return {};
  merging.budget.left--;
  merging.met.add(reference);
  return mergeCombined(stripDocumentKeywords(target), { ...merging, open: new Set([...merging.open, reference]) });
};

/** Drops keywords that are about the document and not about the value. */
const stripDocumentKeywords = (schema: JsonObject): JsonObject =>
  omitKeywords(
    schema,
    (key) => key === "$id" || key === "$schema" || key === "$anchor" || key === "$defs" || key === "definitions",
  );

/** Merges two schemas that must both hold. Where a keyword differs, the first wins. */
export const mergeSchemas = (one: JsonObject, other: JsonObject): JsonObject => {
  const entries = Object.entries(other).filter(([key]) => !Object.hasOwn(one, key));
  const required = union(requiredOf(one), requiredOf(other));
  const closed = one["additionalProperties"] === false || other["additionalProperties"] === false;
  return {
    ...Object.fromEntries([...Object.entries(one), ...entries]),
    ...(one["properties"] === undefined || other["properties"] === undefined
      ? {}
      : { properties: mergeProperties([propertiesOf(one), propertiesOf(other)], "allOf") }),
    ...(required.length === 0 ? {} : { required }),
    ...(closed ? { additionalProperties: false } : {}),
  };
};

/** Merges alternative branches into one object: all their properties, required only where all require it, and a description of the forms. */
const mergeBranches = (base: JsonObject, branches: readonly JsonObject[], word: "anyOf" | "oneOf"): JsonObject => {
  const objects = branches.filter((branch) => typesOf(branch).length === 0 || typesOf(branch).includes("object"));
  const [first, ...rest] = objects;
  if (first === undefined) return base;
  if (rest.length === 0) return mergeSchemas(base, first);
  const properties = mergeProperties(objects.map(propertiesOf), "anyOf");
  const shared = requiredOf(first).filter((name) => rest.every((branch) => requiredOf(branch).includes(name)));
  const closed = objects.every((branch) => branch["additionalProperties"] === false);
  const shape = mergeSchemas(base, {
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(shared.length === 0 ? {} : { required: shared }),
    ...(closed ? { additionalProperties: false } : {}),
  });
  const forms = [...new Set(objects.map(formOf))];
  if (forms.length < 2) return shape;
  return appendDescription(
    shape,
    `${word === "oneOf" ? "Exactly" : "At least"} one of these forms: ${forms.join(" or ")}.`,
  );
};

/** Describes a branch briefly: required and optional properties, and constant values. */
const formOf = (branch: JsonObject): string => {
  const required = requiredOf(branch);
  const properties = propertiesOf(branch);
  const fields = union(required, Object.keys(properties)).map((name) => {
    const value = Object.hasOwn(properties, name) ? onlyValue(properties[name]!) : undefined;
    const mark = required.includes(name) ? "" : "?";
    return value === undefined ? `${name}${mark}` : `${name}${mark}: ${JSON.stringify(value)}`;
  });
  return `{${fields.join(", ")}}`;
};

const onlyValue = (schema: JsonValue): JsonValue | undefined => {
  const values = isObject(schema) ? valuesOf(schema) : undefined;
  return values?.length === 1 ? values[0] : undefined;
};

/** Returns the `const` or `enum` values of a schema, if any. */
const valuesOf = ({ const: value, enum: values }: JsonObject): readonly JsonValue[] | undefined =>
  value !== undefined ? [value] : Array.isArray(values) ? values : undefined;

/** Merges the properties of several schemas; a property declared differently keeps all its schemas. */
const mergeProperties = (maps: readonly JsonObject[], word: "allOf" | "anyOf"): JsonObject => {
  const shapes = new Map<string, Map<string, JsonSchemaNode>>();
  for (const map of maps) {
    for (const [name, inner] of Object.entries(map)) {
      const known = shapes.get(name) ?? new Map<string, JsonSchemaNode>();
      shapes.set(name, known.set(JSON.stringify(inner), inner as JsonSchemaNode));
    }
  }
  return Object.fromEntries([...shapes].map(([name, known]) => [name, combine([...known.values()], word)]));
};

const combine = (schemas: readonly JsonSchemaNode[], word: "allOf" | "anyOf"): JsonSchemaNode => {
  if (schemas.length === 1) return schemas[0]!;
  return (word === "anyOf" ? mergeEnums(schemas) : undefined) ?? { [word]: schemas };
};

/** Merges schemas that only list values of one type into one enum; undefined for others. */
const mergeEnums = (schemas: readonly JsonSchemaNode[]): JsonSchemaNode | undefined => {
  const lists = schemas.map((schema) =>
    isObject(schema) && Object.keys(schema).every((key) => key === "const" || key === "enum" || key === "type")
      ? valuesOf(schema)
      : undefined,
  );
  if (!lists.every((values) => values !== undefined)) return undefined;
  const types = new Set(schemas.map((schema) => (isObject(schema) ? schema["type"] : undefined)));
  if (types.size > 1) return undefined;
  const [type] = types;
  const texts = new Map(lists.flat().map((value) => [JSON.stringify(value), value]));
  return { ...(type === undefined ? {} : { type }), enum: [...texts.values()] };
};

const union = (one: readonly string[], other: readonly string[]): readonly string[] =>
  other.every((name) => one.includes(name)) ? one : [...new Set([...one, ...other])];
