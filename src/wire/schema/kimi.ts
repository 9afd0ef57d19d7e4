import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { maxReferences, mergeCombined, toObjectSchema, type Combiner, type MergeContext } from "./merge.ts";
import { hoistRefs } from "./references.ts";
import {
  appendDescription,
  mapSubschemas,
  propertiesOf,
  requiredOf,
  resolveReference,
  schemasOf,
  typesOf,
  omitKeywords,
  type SchemaChanges,
  type JsonSchemaNode,
} from "./walk.ts";

/**
 * Converts a schema to Moonshot's flavour of JSON Schema: one type or one `anyOf` at a time, references only into
 * `$defs`, and few constraints. Unsupported keywords are moved into the description, so that the model still reads them.
 */
export const toMoonshotSchema = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const { $defs: defs } = schema;
  const inDefs = (reference: string): boolean => {
    const name = /^#\/\$defs\/([^/~%]+)$/.exec(reference)?.[1];
    return reference === "#" || (name !== undefined && isObject(defs) && Object.hasOwn(defs, name));
  };
  const hoisted = hoistRefs(schema, { before: schema, keeps: inDefs, lost: "replace" }, changes);
  const document = toObjectSchema(hoisted, combiners, changes);
  return rewrite(document, "top", { document, changes, open: new Set(), budget: { left: maxReferences } });
};

const combiners: readonly Combiner[] = ["allOf", "anyOf", "oneOf"];

/** Whether a schema is at the top, where alone definitions are allowed. */
type SchemaPlace = "top" | "inside";

type RewriteContext = Omit<MergeContext, "words" | "met"> & { readonly changes: SchemaChanges };

/** A schema, and the context for the schemas inside it. */
type RewriteResult = { readonly schema: JsonObject; readonly work: RewriteContext };

const anyType = ["string", "number", "boolean", "object", "array", "null"];

const rewrite = (schema: JsonSchemaNode, place: SchemaPlace, work: RewriteContext): JsonObject => {
  if (typeof schema === "boolean") {
    work.changes.done.add("every value has a type");
    return schema ? { type: anyType } : { type: "null", description: "Must not be given." };
  }
  const single = withoutAll(schema, work);
  if (single.schema["$ref"] !== undefined) return withoutUnknown(single.schema, place, work);
  const { schema: chosen, work: inside } = withOneChoice(constAsEnum(single.schema, work), single.work);
  const plain = withoutUnknown(withoutTuple(chosen, inside), place, inside);
  const final = plain["anyOf"] === undefined ? withOneType(withType(withEnum(plain, inside), inside), inside) : plain;
  return mapSubschemas(withDeclared(final, inside), (inner, key) =>
    key === "additionalProperties" ? rewriteRest(inner, inside) : rewrite(inner, "inside", inside),
  );
};

/** Rewrites `additionalProperties`; an empty schema becomes `true`. */
const rewriteRest = (schema: JsonSchemaNode, work: RewriteContext): JsonSchemaNode => {
  if (typeof schema === "boolean") return schema;
  if (Object.keys(schema).length > 0) return rewrite(schema, "inside", work);
  work.changes.done.add("an empty schema became true");
  return true;
};

/** Keywords allowed beside a reference or `anyOf`. */
const annotations = new Set(["description", "title", "$defs", "$id"]);

/** Merges `allOf` and the siblings of a reference into one schema. */
const withoutAll = (schema: JsonObject, work: RewriteContext): RewriteResult => {
  const simplified = asReference(schema);
  if (simplified !== schema) work.changes.done.add("combined shapes were merged");
  const { $ref: reference, allOf } = simplified;
  const beside = Object.keys(simplified).filter((key) => key !== "$ref" && !annotations.has(key));
  if (allOf === undefined && (reference === undefined || beside.length === 0)) return { schema: simplified, work };
  if (typeof reference !== "string" || !cannotFollow(reference, work)) return mergedHere(simplified, ["allOf"], work);
  const moved = beside.filter((key) => key !== "type" && !ignoredKeywords.has(key));
  return {
    schema: moveToDescription(
      omitKeywords(simplified, (key) => beside.includes(key) && !moved.includes(key)),
      moved,
      work,
    ),
    work,
  };
};

/** Merges combiners; references followed for it are not followed again inside. */
const mergedHere = (schema: JsonObject, words: readonly Combiner[], work: RewriteContext): RewriteResult => {
  work.changes.done.add("combined shapes were merged");
  const met = new Set<string>();
  const whole = mergeCombined(schema, { ...work, words, met });
  return { schema: whole, work: met.size === 0 ? work : { ...work, open: new Set([...work.open, ...met]) } };
};

const cannotFollow = (reference: string, { open, budget, document }: RewriteContext): boolean =>
  open.has(reference) || budget.left <= 0 || !isObject(resolveReference(document, reference));

/** Replaces an `allOf` of a single reference by that reference. */
const asReference = (schema: JsonObject): JsonObject => {
  const { allOf, ...own } = schema;
  const [only, ...more] = schemasOf(allOf);
  if (!isObject(only) || more.length > 0 || schema["$ref"] !== undefined) return schema;
  const { $ref: reference, ...rest } = only;
  return typeof reference === "string" &&
    Object.keys(rest).length === 0 &&
    Object.keys(own).every((key) => annotations.has(key))
    ? { ...own, $ref: reference }
    : schema;
};

const constAsEnum = (schema: JsonObject, { changes }: RewriteContext): JsonObject => {
  const { const: value, ...rest } = schema;
  if (value === undefined) return schema;
  changes.done.add("const became enum");
  return { ...rest, enum: [value] };
};

/** Leaves one `anyOf` without siblings: an object is merged with the branches, a type moves into them, the rest moves into the description. */
const withOneChoice = (schema: JsonObject, work: RewriteContext): RewriteResult => {
  const { oneOf, ...own } = schema;
  let one = schema;
  if (oneOf !== undefined && own["anyOf"] === undefined) {
    work.changes.done.add("oneOf became anyOf");
    one = { ...own, anyOf: oneOf };
  }
  const branches = schemasOf(one["anyOf"]);
  if (branches.length === 0) return { schema: one, work };
  const beside = Object.keys(one).filter(
    (key) => key !== "anyOf" && !annotations.has(key) && !unsupportedKeywords.has(key),
  );
  if (beside.length === 0) return { schema: one, work };
  if (
    typesOf(one).includes("object") ||
    ["properties", "required", "additionalProperties"].some((key) => beside.includes(key))
  )
    return mergedHere(one, combiners, work);
  const { type, ...untyped } = one;
  if (type !== undefined) work.changes.done.add("the type beside a choice went into it");
  const typed = type === undefined ? branches : branches.map((branch) => withTypeFrom(branch, type));
  const moved = beside.filter((key) => key !== "type");
  return { schema: moveToDescription({ ...untyped, anyOf: typed }, moved, work), work };
};

const withTypeFrom = (branch: JsonSchemaNode, type: JsonValue): JsonSchemaNode => {
  if (typeof branch === "boolean") return branch ? { type } : branch;
  return ["type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const"].some((key) => branch[key] !== undefined)
    ? branch
    : { type, ...branch };
};

/** Replaces positional items by one `anyOf` for all positions. */
const withoutTuple = (schema: JsonObject, work: RewriteContext): JsonObject => {
  const { items, prefixItems, ...rest } = schema;
  if (typeof items === "boolean" && prefixItems === undefined)
    return items ? rest : moveToDescription(schema, ["items"], work);
  const positions = [...schemasOf(prefixItems), ...(Array.isArray(items) ? schemasOf(items) : [])];
  if (positions.length === 0) return schema;
  const distinct = [
    ...new Map(
      [...positions, ...(isObject(items) ? [items] : [])].map((item) => [JSON.stringify(item), item]),
    ).values(),
  ];
  work.changes.worded.add(Array.isArray(items) ? "items" : "prefixItems");
  const choice: JsonSchemaNode = distinct.length === 1 ? distinct[0]! : { anyOf: distinct };
  return appendDescription(
    { type: "array", ...rest, items: choice },
    `(in order: ${positions.map(summarizeSchema).join(", ")})`,
  );
};

const summarizeSchema = (schema: JsonSchemaNode): string => {
  if (typeof schema === "boolean") return "anything";
  const { title, $ref: reference } = schema;
  if (typeof title === "string") return title;
  if (typeof reference === "string") return reference.split("/").at(-1)!;
  return typesOf(schema).join(" or ") || "anything";
};

/** Keywords Moonshot does not support, and keywords without meaning for a model. */
const unsupportedKeywords: ReadonlySet<string> = new Set(
  (
    "oneOf not if then else pattern patternProperties propertyNames format exclusiveMinimum " +
    "exclusiveMaximum multipleOf uniqueItems contains minContains maxContains minProperties " +
    "maxProperties dependentRequired dependentSchemas dependencies additionalItems " +
    "unevaluatedProperties unevaluatedItems prefixItems nullable $dynamicRef contentSchema"
  ).split(" "),
);
const ignoredKeywords: ReadonlySet<string> = new Set([
  "$schema",
  "$comment",
  "$anchor",
  "$dynamicAnchor",
  "$vocabulary",
  "definitions",
]);

const withoutUnknown = (schema: JsonObject, place: SchemaPlace, work: RewriteContext): JsonObject => {
  const kept = omitKeywords(
    schema,
    (key) => ignoredKeywords.has(key) || (place !== "top" && (key === "$defs" || key === "$id")),
  );
  if (kept !== schema) work.changes.done.add("keywords about the schema itself were left out");
  const valid = place === "top" ? withSoundNames(kept, work) : kept;
  return moveToDescription(
    valid,
    Object.keys(valid).filter((key) => unsupportedKeywords.has(key)),
    work,
  );
};

/** Drops definitions whose names no reference can contain; they were renamed before. */
const withSoundNames = (schema: JsonObject, work: RewriteContext): JsonObject => {
  const { $defs: defs } = schema;
  if (!isObject(defs)) return schema;
  const valid = omitKeywords(defs, (name) => name === "" || /[/~%]/.test(name));
  if (valid === defs) return schema;
  work.changes.done.add("references point into $defs");
  return { ...schema, $defs: valid };
};

/** Moves keywords from a schema into its description. */
const moveToDescription = (schema: JsonObject, keys: readonly string[], { changes }: RewriteContext): JsonObject => {
  if (keys.length === 0) return schema;
  for (const key of keys) changes.worded.add(key);
  const words = keys.map((key) => `${key}: ${quoteValue(schema[key]!)}`);
  return appendDescription(
    omitKeywords(schema, (key) => keys.includes(key)),
    `(${words.join("; ")})`,
  );
};

const quoteValue = (value: JsonValue): string => {
  const words = typeof value === "string" ? value : JSON.stringify(value);
  return words.length > 300 ? `${words.slice(0, 300)}...` : words;
};

/** Makes the values of an enum all strings or all numbers, besides null, and of the declared type. */
const withEnum = (schema: JsonObject, work: RewriteContext): JsonObject => {
  const { enum: values, type: _, ...rest } = schema;
  if (!Array.isArray(values)) return schema;
  const types = typesOf(schema);
  const fitting = types.length === 0 ? values : values.filter((value) => types.some((type) => isOf(value, type)));
  if (fitting.length === 0) return moveToDescription(schema, ["enum"], work);
  const kinds = new Set(fitting.map(jsonKindOf));
  const [kind, ...others] = [...kinds].filter((name) => name !== "null");
  if (others.length === 0 && (kind === "string" || kind === "number")) {
    const named = types.find(
      (type) => type !== "null" && fitting.every((value) => value === null || isOf(value, type)),
    );
    const single =
      named ??
      (kind === "number" && fitting.every((value) => value === null || Number.isInteger(value)) ? "integer" : kind);
    const wanted = kinds.has("null") || types.includes("null") ? [single, "null"] : [single];
    const fits = types.length === wanted.length && wanted.every((type) => types.includes(type));
    if (fits && fitting.length === values.length) return schema;
    work.changes.done.add("enum values are of one type");
    return { type: wanted.length === 1 ? single : wanted, ...rest, enum: fitting };
  }
  work.changes.done.add("enum values are of one type");
  const branches = [...kinds].map((name): JsonObject => {
    const same = fitting.filter((value) => jsonKindOf(value) === name);
    if (name === "string" || name === "number") return { type: name, enum: same };
    const free = name === "null" || (name === "boolean" && new Set(same).size === 2);
    return free ? { type: name } : { type: name, description: `(enum: ${quoteValue(same)})` };
  });
  return asChoice(rest, branches, work);
};

type JsonKind = "string" | "number" | "boolean" | "null" | "array" | "object";

const jsonKindOf = (value: JsonValue): JsonKind => {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value as JsonKind;
};

const isOf = (value: JsonValue, type: string): boolean =>
  type === "integer" ? Number.isInteger(value) : jsonKindOf(value) === type;

/** Returns a single branch as the schema itself, several as an `anyOf` with nothing but annotations beside it. */
const asChoice = (rest: JsonObject, branches: readonly JsonObject[], work: RewriteContext): JsonObject => {
  const [only, ...more] = branches;
  if (more.length === 0 && only !== undefined) {
    const { description, ...plain } = only;
    const whole = { ...rest, ...plain };
    return typeof description === "string" ? appendDescription(whole, description) : whole;
  }
  return moveToDescription(
    { ...rest, anyOf: branches },
    Object.keys(rest).filter((key) => !annotations.has(key)),
    work,
  );
};

/** Adds a missing type, inferred from the keywords. */
const withType = (schema: JsonObject, { changes }: RewriteContext): JsonObject => {
  if (schema["type"] !== undefined || schema["anyOf"] !== undefined) return schema;
  changes.done.add("every value has a type");
  const inferred = Object.entries(keywordsOf).find(([, keys]) => keys.some((key) => schema[key] !== undefined));
  return { type: inferred?.[0] ?? anyType, ...schema };
};

const keywordsOf: Readonly<Record<string, readonly string[]>> = {
  object: ["properties", "required", "additionalProperties"],
  array: ["items", "minItems", "maxItems"],
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
};

/** Splits several types into an `anyOf` if there are other keywords beside them. */
const withOneType = (schema: JsonObject, work: RewriteContext): JsonObject => {
  const { type: _, ...rest } = schema;
  const types = typesOf(schema);
  const beside = Object.keys(rest).filter((key) => !annotations.has(key) && key !== "default" && key !== "enum");
  if (types.length < 2 || beside.length === 0) return schema;
  work.changes.done.add("several types became a choice");
  const typeKeywords = new Set(Object.values(keywordsOf).flat());
  const branches = types.map((type): JsonObject => {
    const own = keywordsOf[type] ?? [];
    return { type, ...omitKeywords(rest, (key) => !own.includes(key)) };
  });
  return asChoice(
    omitKeywords(rest, (key) => typeKeywords.has(key)),
    branches,
    work,
  );
};

/** Drops names from `required` that are not in `properties`. */
const withDeclared = (schema: JsonObject, work: RewriteContext): JsonObject => {
  const names = requiredOf(schema);
  const properties = propertiesOf(schema);
  const declared = names.filter((name) => Object.hasOwn(properties, name));
  if (declared.length === names.length) return schema;
  const missing = names.filter((name) => !Object.hasOwn(properties, name));
  work.changes.worded.add("required");
  const { required: _, ...rest } = schema;
  return appendDescription(
    declared.length === 0 ? rest : { ...rest, required: declared },
    `(required: ${missing.join(", ")})`,
  );
};
