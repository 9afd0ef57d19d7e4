import { isObject, type JsonObject, type JsonValue } from "../../conversation/json.ts";
import {
  isSchema,
  schemaListKeywords,
  mapSubschemas,
  schemaMapKeywords,
  propertiesOf,
  requiredOf,
  singleSchemaKeywords,
  omitKeywords,
  type SchemaChanges,
  type JsonSchemaNode,
} from "./walk.ts";

/** Repairs malformed keywords: quoted numbers become numbers, unreadable values are dropped, and too deep nesting is cut. */
export const repairSchema = (schema: JsonObject, changes: SchemaChanges): JsonObject =>
  repairNested(schema, 0, changes);

const maxDepth = 64;
const tooDeep: JsonObject = { type: "object", description: "Nested too deep to be described." };

const repairNested = (schema: JsonObject, depth: number, changes: SchemaChanges): JsonObject => {
  const binding = withoutIdleBounds(schema);
  if (binding !== schema) changes.done.add("bounds that bind nothing were left out");
  const held = hoistRequired(fixKeywords(fixBounds(binding)));
  if (held !== binding) changes.done.add("malformed keywords were mended");
  let cut = false;
  const inner = mapSubschemas(held, (child) => {
    if (typeof child === "boolean") return child;
    if (depth < maxDepth) return repairNested(child, depth + 1, changes);
    cut = true;
    return child;
  });
  if (!cut) return inner;
  changes.done.add("what lies too deep was cut");
  return tooDeep;
};

/** Drops bounds at the largest safe integer: Zod adds them to every integer, and they only cost tokens. */
const withoutIdleBounds = (schema: JsonObject): JsonObject =>
  omitKeywords(schema, (key) => {
    const most = Number.MAX_SAFE_INTEGER;
    return schema[key] === (lower.has(key) ? -most : upper.has(key) ? most : undefined);
  });

const lower = new Set(["minimum", "exclusiveMinimum"]);
const upper = new Set(["maximum", "exclusiveMaximum"]);

/** Converts boolean `exclusiveMinimum` and `exclusiveMaximum`, as before draft 6, to numbers. */
const fixBounds = (schema: JsonObject): JsonObject => {
  let fixed = schema;
  for (const [word, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (fixed[word] !== true || typeof fixed[bound] !== "number") continue;
    fixed = omitKeywords({ ...fixed, [word]: fixed[bound]! }, (key) => key === bound);
  }
  return fixed;
};

/** Moves `required: true` on a property into the `required` list of its object. */
const hoistRequired = (schema: JsonObject): JsonObject => {
  const names = Object.entries(propertiesOf(schema)).flatMap(([name, inner]) =>
    isObject(inner) && inner["required"] === true ? [name] : [],
  );
  return names.length === 0 ? schema : { ...schema, required: [...new Set([...requiredOf(schema), ...names])] };
};

const fixKeywords = (schema: JsonObject): JsonObject => {
  let changed = false;
  const entries: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(schema)) {
    const fixed = fixKeyword(key, value);
    if (fixed !== value) changed = true;
    if (fixed !== undefined) entries.push([key, fixed]);
  }
  return changed ? Object.fromEntries(entries) : schema;
};

const numbers = new Set(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]);
const counts = new Set(
  "minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains".split(" "),
);
const texts = new Set(
  (
    "$ref $id $schema $anchor $comment $dynamicRef $dynamicAnchor pattern format title description " +
    "contentEncoding contentMediaType"
  ).split(" "),
);
const flags = new Set(["uniqueItems", "nullable", "deprecated", "readOnly", "writeOnly"]);
const data = new Set(["default", "const", "example", "examples"]);

/** Returns the repaired value of a keyword; undefined if it cannot be read. */
const fixKeyword = (key: string, value: JsonValue): JsonValue | undefined => {
  if (data.has(key)) return value;
  if (value === null) return undefined;
  if (numbers.has(key)) return fixNumber(key, value);
  if (counts.has(key)) return fixCount(value);
  if (texts.has(key)) return typeof value === "string" ? value : undefined;
  if (flags.has(key)) return typeof value === "boolean" ? value : undefined;
  if (schemaMapKeywords.has(key)) return isObject(value) ? fixMap(value) : undefined;
  if (schemaListKeywords.has(key)) return fixList(value);
  if (singleSchemaKeywords.has(key)) return key === "items" && Array.isArray(value) ? fixList(value) : asSchema(value);
  if (key === "type") return fixType(value);
  if (key === "enum") return Array.isArray(value) ? (value.length === 0 ? undefined : value) : [value];
  if (key === "required") return fixRequired(value);
  return value;
};

const asNumber = (value: JsonValue): number | undefined => {
  if (typeof value === "number") return value;
  const number = typeof value === "string" && value.trim() !== "" ? Number(value) : NaN;
  return Number.isFinite(number) ? number : undefined;
};

const fixNumber = (key: string, value: JsonValue): number | undefined => {
  const number = asNumber(value);
  return number === undefined || (key === "multipleOf" && number <= 0) ? undefined : number;
};

const fixCount = (value: JsonValue): number | undefined => {
  const count = asNumber(value);
  return count !== undefined && Number.isInteger(count) && count >= 0 ? count : undefined;
};

const types = ["null", "boolean", "object", "array", "number", "integer", "string"];

const fixType = (value: JsonValue): JsonValue | undefined => {
  if (!Array.isArray(value)) return asType(value);
  const named = value.flatMap((type: JsonValue) => asType(type) ?? []);
  const distinct = [...new Set(named)];
  if (distinct.length === 0) return undefined;
  return distinct.length === value.length && distinct.every((type, index) => type === value[index]) ? value : distinct;
};

const asType = (value: JsonValue): string | undefined =>
  typeof value === "string" ? types.find((type) => type === value.toLowerCase()) : undefined;

const fixRequired = (value: JsonValue): JsonValue | undefined => {
  if (typeof value === "string") return [value];
  if (!Array.isArray(value)) return undefined;
  const names = [...new Set(value.filter((name) => typeof name === "string"))];
  return names.length === value.length ? value : names;
};

const fixMap = (map: JsonObject): JsonObject =>
  Object.values(map).every(isSchema)
    ? map
    : Object.fromEntries(Object.entries(map).map(([name, inner]) => [name, asSchema(inner) ?? {}]));

const fixList = (value: JsonValue): JsonValue | undefined => {
  if (!Array.isArray(value)) return undefined;
  const schemas = value.filter(isSchema);
  if (schemas.length === 0) return undefined;
  return schemas.length === value.length ? value : schemas;
};

/** Returns a schema; a bare type name is expanded to one. */
const asSchema = (value: JsonValue): JsonSchemaNode | undefined => {
  if (isSchema(value)) return value;
  const type = asType(value);
  return type === undefined ? undefined : { type };
};
