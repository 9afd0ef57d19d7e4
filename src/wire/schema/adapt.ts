import { isObject, type JsonObject } from "../../conversation/json.ts";
import { toMoonshotSchema } from "./kimi.ts";
import { renameArguments, type ArgumentNames } from "./argument-names.ts";
import { repairSchema } from "./repair.ts";
import { toObjectSchema, type Combiner } from "./merge.ts";
import { hoistRefs, inlineRefs } from "./references.ts";
import {
  appendDescription,
  mapSubschemas,
  resolveReference,
  typesOf,
  omitKeywords,
  type SchemaChanges,
  type JsonSchemaNode,
} from "./walk.ts";

/** A schema in one API's dialect; `changed` describes the changes, `renamed` maps renamed arguments. */
export type AdaptedSchema = {
  readonly schema: JsonObject;
  readonly changed?: string;
  readonly renamed?: ArgumentNames;
};

/** Bedrock: draft 2020-12, an object at the top, and no combiners there. */
export const bedrockSchema: SchemaAdapter = createSchemaAdapter((given, changes) => toDraft2020(given, changes));

/** Anthropic, and Claude on Bedrock: the same, with plain names for arguments. */
export const anthropicSchema: SchemaAdapter = createSchemaAdapter((given, changes) =>
  renameArguments(toDraft2020(given, changes), changes),
);

/** Gemini's `parametersJsonSchema`: any well-formed schema with an object at the top. */
export const geminiSchema: SchemaAdapter = createSchemaAdapter((given, changes) => toObjectSchema(given, [], changes));

/** OpenAI without `strict`: one object at the top, `properties` on every object and `items` on every array. */
export const openaiSchema: SchemaAdapter = createSchemaAdapter((given, changes) => {
  const top = withoutTopValues(oneObject(given, changes), changes);
  return mapAllSchemas(top, (node) => withContents(withPrefixItems(node, changes), changes));
});

/** Kimi: Moonshot's own flavour. */
export const kimiSchema: SchemaAdapter = createSchemaAdapter(toMoonshotSchema);

/** Mistral: draft 7 without references, and without the keywords its validator fails on. */
export const mistralSchema: SchemaAdapter = createSchemaAdapter((given, changes) =>
  mapAllSchemas(inlineRefs(toObjectSchema(given, [], changes), changes), (node) => toDraft7(node, changes)),
);

/** Adapts a tool's parameters to one API. */
export type SchemaAdapter = (schema: JsonObject | undefined) => AdaptedSchema;

type SchemaPass = (schema: JsonObject, changes: SchemaChanges) => JsonObject;

/** Merging can reveal more to change, so a pass runs until nothing changes; no real schema needs more than two rounds. */
const maxRounds = 8;

/** Creates an adapter with a cache by schema: the same tools are declared with every request. */
function createSchemaAdapter(pass: SchemaPass): SchemaAdapter {
  const known = new WeakMap<JsonObject, AdaptedSchema>();
  return (schema) => {
    if (!isObject(schema) || Object.keys(schema).length === 0) return { schema: { type: "object", properties: {} } };
    const adapted = known.get(schema) ?? adapt(schema, pass);
    known.set(schema, adapted);
    return adapted;
  };
}

const adapt = (schema: JsonObject, pass: SchemaPass): AdaptedSchema => {
  const changes: SchemaChanges = { done: new Set(), worded: new Set(), renamed: new Map() };
  let given: JsonObject = schema;
  for (let round = 0; round < maxRounds; round++) {
    const next = pass(repairSchema(given, changes), changes);
    if (next === given) break;
    given = next;
  }
  if (given === schema) return { schema };
  const worded = changes.worded.size === 0 ? [] : [`${[...changes.worded].join(", ")} moved into descriptions`];
  return {
    schema: given,
    changed: [...changes.done, ...worded].join("; "),
    ...(changes.renamed.size === 0 ? {} : { renamed: changes.renamed }),
  };
};

const toDraft2020 = (schema: JsonObject, changes: SchemaChanges): JsonObject =>
  oneObject(
    mapAllSchemas(schema, (node) => withPrefixItems(node, changes)),
    changes,
  );

const combiners: readonly Combiner[] = ["allOf", "anyOf", "oneOf"];

/** Merges combiners at the top into one object. References into a removed combiner point into `$defs`. */
const oneObject = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const top = toObjectSchema(schema, combiners, changes);
  if (top === schema) return schema;
  const keeps = (reference: string): boolean => resolveReference(top, reference) !== undefined;
  return hoistRefs(top, { before: schema, keeps, lost: "keep" }, changes);
};

/** Maps every schema of a document, inner ones first. */
const mapAllSchemas = (schema: JsonObject, change: (node: JsonObject) => JsonObject): JsonObject => {
  const visit = (inner: JsonSchemaNode): JsonSchemaNode =>
    typeof inner === "boolean" ? inner : change(mapSubschemas(inner, visit));
  return visit(schema) as JsonObject;
};

/** Moves positional `items`, as before draft 2020-12, to `prefixItems`. */
const withPrefixItems = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const { items, additionalItems, ...rest } = schema;
  if (!Array.isArray(items)) return schema;
  changes.done.add("items by position became prefixItems");
  return { ...rest, prefixItems: items, ...(additionalItems === undefined ? {} : { items: additionalItems }) };
};

/** Adds `properties` and `items`: OpenAI drops an object without the former and refuses an array without the latter. */
const withContents = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const types = typesOf(schema);
  const open = types.includes("object") && schema["properties"] === undefined;
  const bare = types.includes("array") && schema["items"] === undefined;
  if (!open && !bare) return schema;
  changes.done.add("objects have properties and arrays items");
  return { ...schema, ...(open ? { properties: {} } : {}), ...(bare ? { items: {} } : {}) };
};

/** Moves `enum` and `not` at the top into the description: OpenAI refuses them there. */
const withoutTopValues = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const keys = ["enum", "not"].filter((key) => schema[key] !== undefined);
  if (keys.length === 0) return schema;
  for (const key of keys) changes.worded.add(key);
  const words = keys.map((key) => `${key}: ${JSON.stringify(schema[key])}`).join("; ");
  return appendDescription(
    omitKeywords(schema, (key) => keys.includes(key)),
    `(${words})`,
  );
};

const unknownToMistral = new Set(["$id", "$schema", "$defs", "definitions", "strict"]);

const toDraft7 = (schema: JsonObject, changes: SchemaChanges): JsonObject => {
  const kept = omitKeywords(
    schema,
    (key) => unknownToMistral.has(key) || (key === "additionalProperties" && schema[key] === false),
  );
  if (kept !== schema) changes.done.add("keywords Mistral trips over were left out");
  const { prefixItems, items, ...rest } = kept;
  if (!Array.isArray(prefixItems)) return kept;
  changes.done.add("prefixItems became items by position");
  return {
    ...rest,
    items: prefixItems,
    ...(items === undefined || Array.isArray(items) ? {} : { additionalItems: items }),
  };
};
