import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import { hasSchemaCycle } from "../../conversation/schema-cycle.ts";
import type { OutputFormat } from "../wire.ts";
import { isSchema, propertiesOf, requiredOf, schemasOf, typesOf, type JsonSchemaNode } from "./walk.ts";

/**
 * Creates the output format for a JSON Schema. `enforced` is what APIs that constrain the answer while it is written get:
 * objects are closed, and keywords that not all of them know are left out, so the answer must still be validated. It is absent for a schema that cannot be expressed so.
 */
export const createOutputFormat = (schema: JsonObject): OutputFormat => {
  const size: EnforcedSize = { optional: 0, unions: 0, properties: 0, letters: 0 };
  const enforced = isPlainRoot(schema) && !hasSchemaCycle(schema) ? enforceNode(schema, size, 1) : undefined;
  if (!isObject(enforced) || exceedsLimits(size)) return { name, schema };
  return { name, schema, enforced, isComplete: size.optional === 0 };
};

/** APIs want a name for the schema, which the model may see. */
const name = "answer";

/** The sizes that APIs limit. */
type EnforcedSize = { optional: number; unions: number; properties: number; letters: number };

/** The smallest limits of any API: Anthropic's for optional properties and unions, OpenAI's for the others. */
const exceedsLimits = ({ optional, unions, properties, letters }: EnforcedSize): boolean =>
  optional >= 24 || unions >= 16 || properties > 1000 || letters > 15_000;

const maxDepth = 8;

/** All APIs want one object at the top, and OpenAI no combiners there. */
const isPlainRoot = (schema: JsonObject): boolean =>
  schema["type"] === "object" && schema["$ref"] === undefined && schema["anyOf"] === undefined;

/** Keywords that say nothing about the value, or that validation covers: they can be left out. */
const omitted = new Set(
  (
    "$schema $id $comment default examples deprecated readOnly writeOnly format pattern minLength maxLength minimum " +
    "maximum exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties"
  ).split(" "),
);
const kept = new Set(
  "type properties required additionalProperties items enum const anyOf description title $ref $defs definitions".split(
    " ",
  ),
);

/** Closes one schema; undefined where it uses what cannot be enforced everywhere. */
const enforceNode = (node: JsonSchemaNode | undefined, size: EnforcedSize, depth: number): JsonObject | undefined => {
  if (!isObject(node) || depth > maxDepth) return undefined;
  if (Object.keys(node).some((key) => !kept.has(key) && !omitted.has(key))) return undefined;
  const definitions = enforceDefinitions(node, size);
  if (definitions === undefined) return undefined;
  // No API knows what stands beside a reference; OpenAI refuses it.
  if (node["$ref"] !== undefined)
    return /^#\/(\$defs|definitions)\/[\w-]+$/.test(JSON.stringify(node["$ref"]).slice(1, -1))
      ? { $ref: node["$ref"] }
      : undefined;
  const content = enforceContent(node, size, depth);
  return content === undefined ? undefined : { ...textOf(node), ...content, ...definitions };
};

const textOf = ({ title, description }: JsonObject): JsonObject => ({
  ...(typeof title === "string" ? { title } : {}),
  ...(typeof description === "string" ? { description } : {}),
});

const enforceDefinitions = (node: JsonObject, size: EnforcedSize): JsonObject | undefined => {
  const result: Record<string, JsonValue> = {};
  for (const key of ["$defs", "definitions"]) {
    const definitions = node[key];
    if (definitions === undefined) continue;
    const enforced = isObject(definitions) ? enforceMap(definitions as JsonObject, size, 1) : undefined;
    if (enforced === undefined) return undefined;
    result[key] = enforced;
  }
  return result;
};

const enforceMap = (map: JsonObject, size: EnforcedSize, depth: number): JsonObject | undefined => {
  const entries = Object.entries(map).map(
    ([key, inner]) => [key, enforceNode(isSchema(inner) ? inner : undefined, size, depth)] as const,
  );
  return entries.every((entry): entry is readonly [string, JsonObject] => entry[1] !== undefined)
    ? Object.fromEntries(entries)
    : undefined;
};

/** The part of a schema that says what values it takes: a choice, listed values, or a type. */
const enforceContent = (node: JsonObject, size: EnforcedSize, depth: number): JsonObject | undefined => {
  if (node["anyOf"] !== undefined) return enforceChoice(node, size, depth);
  const types = typesOf(node);
  if (types.length > 1) size.unions += 1;
  const values = node["enum"] ?? (node["const"] === undefined ? undefined : [node["const"]]);
  if (values !== undefined) return listedValues(values, types, size);
  if (types.length === 0) return undefined;
  const object = types.includes("object") ? enforceObject(node, size, depth) : {};
  const items = types.includes("array") ? enforceItems(node, size, depth) : {};
  if (object === undefined || items === undefined) return undefined;
  return { type: node["type"]!, ...object, ...items };
};

const enforceChoice = (node: JsonObject, size: EnforcedSize, depth: number): JsonObject | undefined => {
  size.unions += 1;
  const alternatives = schemasOf(node["anyOf"]).map((inner) => enforceNode(inner, size, depth + 1));
  const isAlone = ["type", "enum", "const", "properties", "items"].every((key) => node[key] === undefined);
  return isAlone && alternatives.length > 0 && alternatives.every((each) => each !== undefined)
    ? { anyOf: alternatives }
    : undefined;
};

/** Texts and numbers only, with their type: other values are not known everywhere. */
const listedValues = (values: JsonValue, types: readonly string[], size: EnforcedSize): JsonObject | undefined => {
  if (!Array.isArray(values) || values.length === 0 || values.length > 250 || types.length > 1) return undefined;
  size.letters += values.reduce<number>((sum, value) => sum + String(value).length, 0);
  const isOf = (type: string): boolean => values.every((value) => typeof value === type);
  const [type = isOf("string") ? "string" : isOf("number") ? "number" : ""] = types;
  const fits = type === "string" ? isOf("string") : (type === "number" || type === "integer") && isOf("number");
  return fits ? { type, enum: values } : undefined;
};

const enforceObject = (node: JsonObject, size: EnforcedSize, depth: number): JsonObject | undefined => {
  // An object with other properties cannot be closed.
  if (node["additionalProperties"] !== undefined && node["additionalProperties"] !== false) return undefined;
  const names = Object.keys(propertiesOf(node));
  const required = requiredOf(node);
  if (names.length === 0 || required.some((each) => !names.includes(each))) return undefined;
  size.properties += names.length;
  size.letters += names.reduce((sum, each) => sum + each.length, 0);
  size.optional += names.filter((each) => !required.includes(each)).length;
  const properties = enforceMap(propertiesOf(node), size, depth + 1);
  return properties === undefined ? undefined : { properties, required, additionalProperties: false };
};

const enforceItems = (node: JsonObject, size: EnforcedSize, depth: number): JsonObject | undefined => {
  const { items } = node;
  const enforced = enforceNode(isSchema(items) ? items : undefined, size, depth + 1);
  return enforced === undefined ? undefined : { items: enforced };
};
