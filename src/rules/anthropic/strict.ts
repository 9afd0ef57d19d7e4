import { type CustomTool, customTools } from "./tools.ts";
import type { ReportFinding } from "../rule.ts";
import { type Check, asArray, asObject, asString, isObject, join, objectsIn } from "../walk.ts";

/** A strict tool's schema is closed and uses only keywords that can be enforced. */
export const checkStrictSchema: Check = (body, report) => {
  for (const { value, pointer, path } of strictTools(body))
    checkStrict(value["input_schema"], join(pointer, "input_schema"), path, report);
};

const strictTools = (body: unknown): readonly CustomTool[] =>
  [...customTools(body)].filter(({ value }) => value["strict"] === true);

/** Reports where a schema is open, is recursive, or uses a keyword that cannot be enforced. */
export const checkStrict = (top: unknown, topPointer: string, path: string, report: ReportFinding): void => {
  for (const { value, pointer, key } of objectsIn(top, topPointer, dataKeywords)) {
    if (key !== undefined && schemaMaps.has(key)) continue;
    if (value["type"] === "object" && value["additionalProperties"] !== false) {
      report(pointer, `${path}: For 'object' type, 'additionalProperties' must be explicitly set to false`);
    }
    const type = typeof value["type"] === "string" ? value["type"] : "object";
    const barred = Object.keys(value).find(
      (name) =>
        unsupportedKeywords.has(name) || (name === "minItems" && Number(value[name]) > 1) || isBooleans(name, value),
    );
    if (barred !== undefined)
      report(join(pointer, barred), `${path}: For '${type}' type, property '${barred}' is not supported`);
  }
  const circle = findCycle(top);
  if (circle !== undefined) {
    report(
      topPointer,
      `${path}: Invalid schema: Circular reference detected in schema definitions: ${circle.join(" -> ")}. Self-referencing or mutually-referencing definitions are not supported.`,
    );
  }
};

/** True when a property is described by `true` or `false` in place of a schema. */
const isBooleans = (name: string, schema: Record<string, unknown>): boolean =>
  name === "properties" && Object.values(asObject(schema[name])).some((property) => typeof property === "boolean");

const dataKeywords = new Set(["default", "const", "enum", "examples"]);
const schemaMaps = new Set(["properties", "$defs", "definitions"]);
const unsupportedKeywords = new Set(
  "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf maxItems uniqueItems minContains maxContains minProperties maxProperties".split(
    " ",
  ),
);

/** The names of definitions that form a reference cycle, the first one repeated at the end. */
const findCycle = (top: unknown): readonly string[] | undefined => {
  const definitions = new Map<string, readonly string[]>();
  for (const [name, schema] of ["$defs", "definitions"].flatMap((key) => Object.entries(asObject(asObject(top)[key]))))
    definitions.set(name, referencesIn(schema));
  const done = new Set<string>();
  const follow = (name: string, way: readonly string[]): readonly string[] | undefined => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return undefined;
    for (const next of definitions.get(name) ?? []) {
      const circle = follow(next, [...way, name]);
      if (circle !== undefined) return circle;
    }
    done.add(name);
    return undefined;
  };
  for (const name of definitions.keys()) {
    const circle = follow(name, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
};

const referencesIn = (schema: unknown): readonly string[] =>
  [...objectsIn(schema, "", dataKeywords)].flatMap(({ value }) => {
    const named = /^#\/(?:\$defs|definitions)\/([^/]+)$/.exec(asString(value["$ref"]) ?? "");
    return named?.[1] === undefined ? [] : [named[1]];
  });

/** A response format has a schema that obeys the same limits as a strict tool's. */
export const checkOutputSchema: Check = (body, report) => {
  const { output_config: config, output_format: older } = asObject(body);
  const formats = [
    { format: asObject(config)["format"], pointer: "/output_config/format", path: "output_config.format.schema" },
    { format: older, pointer: "/output_format", path: "output_format.schema" },
  ];
  for (const { format, pointer, path } of formats) {
    if (!isObject(format) || format["type"] !== "json_schema") continue;
    if (format["schema"] === undefined) report(pointer, `${path}: Field required`);
    else checkStrict(format["schema"], join(pointer, "schema"), path, report);
  }
};

/** All strict schemas of a request are compiled into one grammar, whose size is limited. */
export const checkStrictLimits: Check = (body, report) => {
  const tools = strictTools(body);
  if (tools.length > strictLimits.tools) {
    report(
      "/tools",
      `Too many strict tools (${tools.length}). The maximum number of strict tools supported is ${strictLimits.tools}. Try reducing the number of tools marked as strict.`,
    );
  }
  const sizes = tools.map(({ value, pointer }) => ({ pointer, ...sizeOf(value["input_schema"]) }));
  const optional = sizes.reduce((sum, size) => sum + size.optional, 0);
  const unions = sizes.reduce((sum, size) => sum + size.unions, 0);
  if (optional > strictLimits.optional) {
    report(
      "/tools",
      `Schemas contains too many optional parameters (${optional}), which would make grammar compilation inefficient. Reduce the number of optional parameters in your tool schemas (limit: ${strictLimits.optional}).`,
    );
  } else if (unions > strictLimits.unions) {
    report(
      "/tools",
      `Schemas contains too many parameters with union types (${unions} parameters with type arrays or anyOf), which would cause exponential compilation cost. Reduce the number of nullable or union-typed parameters (limit: ${strictLimits.unions}).`,
    );
  } else {
    const full = sizes.find((size) => size.optional >= strictLimits.optional || size.unions >= strictLimits.unions);
    if (full !== undefined) {
      report(
        full.pointer,
        "Schema is too complex for compilation. Try reducing the number of tools or simplifying tool schemas.",
      );
    }
  }
};

/** As documented. A single schema that uses up a limit alone was recorded to be refused too. */
const strictLimits = { tools: 20, optional: 24, unions: 16 };

const sizeOf = (schema: unknown): { readonly optional: number; readonly unions: number } => {
  let optional = 0;
  let unions = 0;
  for (const { value, key } of objectsIn(schema, "", dataKeywords)) {
    if (key !== undefined && schemaMaps.has(key)) continue;
    const required = new Set(asArray(value["required"]));
    for (const [name, property] of Object.entries(asObject(value["properties"]))) {
      if (!required.has(name)) optional += 1;
      if (Array.isArray(asObject(property)["type"]) || Array.isArray(asObject(property)["anyOf"])) unions += 1;
    }
  }
  return { optional, unions };
};
