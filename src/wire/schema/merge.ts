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

/** The words that combine schemas. */
export type Combiner = "allOf" | "anyOf" | "oneOf";

/** What schemas are merged within. */
export type MergeContext = {
  /** Where references point into. */
  readonly document: JsonObject;
  /** Which combinations are merged; the others stay. */
  readonly words: readonly Combiner[];
  /** References already followed on the way here: following one again would never end. */
  readonly open: ReadonlySet<string>;
  /** The references followed while merging. */
  readonly met: Set<string>;
  /** How many more references may be followed: shapes that share shapes would multiply without end. */
  readonly budget: { left: number };
};

/** How many references one schema is worth following. */
export const maxReferences = 200;

/** An object at the top, without any combination of shapes there. */
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

/** One schema in place of a reference and its siblings, and of the combinations that `words` names. */
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

/** What a schema says about the document it stands in does not follow it elsewhere. */
const stripDocumentKeywords = (schema: JsonObject): JsonObject =>
  omitKeywords(
    schema,
    (key) => key === "$id" || key === "$schema" || key === "$anchor" || key === "$defs" || key === "definitions",
  );

/** A schema for what fits both. Where they differ in a word, the first has it. */
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

/** An object that has the properties of every branch, demands what all of them do, and says which belong together. */
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

/** A branch in short: what it must have, what it may have, and which values tell it from the others. */
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

/** The values a schema lists, if it lists any. */
const valuesOf = ({ const: value, enum: values }: JsonObject): readonly JsonValue[] | undefined =>
  value !== undefined ? [value] : Array.isArray(values) ? values : undefined;

/** Properties of several shapes as one map; those that several describe differently keep all descriptions. */
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

/** Schemas that do nothing but list values of one type are one list: the values that tell forms apart. */
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
