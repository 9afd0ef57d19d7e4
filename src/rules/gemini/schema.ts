import { type LocatedValue, isEnumNumber, pick, snakeCase } from "./body.ts";
import { declarationsOf } from "./tools.ts";
import type { ReportFinding } from "../rule.ts";
import { type Check, isObject, join, objectsIn } from "../walk.ts";

/** A declaration has one schema, not two. */
export const checkOneSchema: Check = (body, report, target) => {
  for (const { at, path } of declarationsOf(body, target)) {
    const second = pick(at, "parameters") === undefined ? undefined : pick(at, "parametersJsonSchema");
    if (second !== undefined)
      report(
        second.pointer,
        `* GenerateContentRequest.${path}: only one of parameters and parameters_json_schema can be set.`,
      );
  }
};

/** `parameters` is written in the API's own subset of OpenAPI. */
export const checkDialect: Check = (body, report, target) => {
  const wide = target.provider === "vertex" || target.provider === "code-assist";
  for (const { at, path } of declarationsOf(body, target)) {
    const schema = pick(at, "parameters");
    if (schema !== undefined) checkSchemas(schema, `${path}.parameters`, wide ? wideFields : narrowFields, report);
  }
};

/** Walks schemas only: `properties` is a map of schemas; values that are not schemas are skipped. */
const checkSchemas = (top: LocatedValue, topPath: string, known: ReadonlySet<string>, report: ReportFinding): void => {
  const pending: { readonly at: LocatedValue; readonly path: string }[] = [{ at: top, path: topPath }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { at, path } = next;
    if (!isObject(at.value)) {
      report(at.pointer, `Invalid value at '${path}' (Schema), ${JSON.stringify(at.value)?.slice(0, 40)}`);
      continue;
    }
    checkOneLevel(at, at.value, path, known, report);
    for (const name of ["items", "anyOf"]) {
      const found = pick(at, name);
      if (found === undefined) continue;
      const inner = Array.isArray(found.value)
        ? found.value.map((value, index) => ({ value, pointer: join(found.pointer, index) }))
        : [found];
      inner.forEach((schema, index) =>
        pending.push({ at: schema, path: `${path}.${snakeCase(name)}${name === "anyOf" ? `[${index}]` : ""}` }),
      );
    }
    const properties = pick(at, "properties");
    for (const [name, value] of Object.entries(isObject(properties?.value) ? properties.value : {})) {
      pending.push({
        at: { value, pointer: join(properties?.pointer ?? "", name) },
        path: `${path}.properties[${name}]`,
      });
    }
  }
};

const checkOneLevel = (
  at: LocatedValue,
  schema: Record<string, unknown>,
  path: string,
  known: ReadonlySet<string>,
  report: ReportFinding,
): void => {
  for (const key of Object.keys(schema)) {
    if (!known.has(key))
      report(
        join(at.pointer, key),
        `Invalid JSON payload received. Unknown name "${key}" at '${path}': Cannot find field.`,
      );
  }
  checkType(at, schema, path, report);
  const values = schema["enum"];
  if (Array.isArray(values)) {
    const odd = values.findIndex((value) => typeof value !== "string");
    if (odd >= 0)
      report(
        join(at.pointer, "enum", odd),
        `Invalid value at '${path}.enum[${odd}]' (TYPE_STRING), ${JSON.stringify(values[odd])}`,
      );
  }
  const { required, properties } = schema;
  if (Array.isArray(required) && isObject(properties)) {
    const odd = required.findIndex((name) => typeof name !== "string" || !Object.hasOwn(properties, name));
    if (odd >= 0)
      report(
        join(at.pointer, "required", odd),
        `* GenerateContentRequest.${path}.required[${odd}]: property is not defined`,
      );
  }
};

const checkType = (at: LocatedValue, schema: Record<string, unknown>, path: string, report: ReportFinding): void => {
  const type = schema["type"];
  if (Array.isArray(type)) {
    report(
      join(at.pointer, "type"),
      `Invalid JSON payload received. Unknown name "type" at '${path}': Proto field is not repeating, cannot start list.`,
    );
    return;
  }
  if (type === undefined || type === null || isEnumNumber(type, types)) return;
  const known = typeof type === "string" && types.has(type.toUpperCase());
  if (!known)
    report(join(at.pointer, "type"), `Invalid value at '${path}.type' (Type), ${JSON.stringify(type)?.slice(0, 40)}`);
  else if (type.toUpperCase() === "ARRAY" && pick(at, "items") === undefined)
    report(at.pointer, `* GenerateContentRequest.${path}.items: missing field.`);
};

const types = new Set(["TYPE_UNSPECIFIED", "STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"]);

const fields = (names: string): readonly string[] => names.split(" ").flatMap((name) => [name, snakeCase(name)]);

const narrow = fields(
  "type format title description nullable enum items minItems maxItems properties required minProperties maxProperties minimum maximum minLength " +
    "maxLength pattern example anyOf propertyOrdering default",
);
const narrowFields: ReadonlySet<string> = new Set(narrow);
/** Vertex also accepts references and additionalProperties. */
const wideFields: ReadonlySet<string> = new Set([
  ...narrow,
  ...fields("additionalProperties ref defs"),
  "$ref",
  "$defs",
]);

/** `parametersJsonSchema` accepts all of JSON Schema, but each keyword must have a value of the right type. */
export const checkJsonSchema: Check = (body, report, target) => {
  for (const { at, path } of declarationsOf(body, target)) {
    const schema = pick(at, "parametersJsonSchema");
    if (schema === undefined) continue;
    const here = `${path}.parameters_json_schema`;
    const type = isObject(schema.value) ? schema.value["type"] : null;
    if (type === null || (typeof type === "string" && type.toLowerCase() !== "object"))
      report(schema.pointer, `* GenerateContentRequest.${here}: schema at top-level must be an object.`);
    for (const { value, pointer, key } of objectsIn(schema.value, schema.pointer, values)) {
      if (key !== "properties" && key !== "$defs" && key !== "definitions" && key !== "patternProperties")
        checkKeywords(value, pointer, here, report);
    }
  }
};

/** Keywords whose value is data, not a schema. */
const values = new Set(["default", "const", "enum", "example", "examples"]);

const checkKeywords = (schema: Record<string, unknown>, pointer: string, path: string, report: ReportFinding): void => {
  for (const [key, value] of Object.entries(schema)) {
    const wrong =
      (value === null && !values.has(key)) ||
      (bounds.has(key) && typeof value !== "number") ||
      (key === "required" && !Array.isArray(value)) ||
      (key === "nullable" && typeof value !== "boolean");
    if (wrong)
      report(
        join(pointer, key),
        `* GenerateContentRequest.${path}: Invalid value for the keyword '${key}': ${JSON.stringify(value)?.slice(0, 40)}`,
      );
  }
};

const bounds = new Set(
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties".split(
    " ",
  ),
);
