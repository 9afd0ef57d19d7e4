import { draftProblems } from "./draft.ts";
import { schemasIn, typesOf, type SchemaNode, type SchemaProblem } from "./walk.ts";
import { asArray, isObject, join } from "../walk.ts";

/** The problems OpenAI reports in any declared schema. An empty one means a function without parameters. */
export const openaiProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] => [
  ...(isObject(schema) && Object.keys(schema).length === 0 ? [] : rootProblems(schema, pointer)),
  ...[...schemasIn(schema, pointer)].flatMap((node) => [...draftProblems(node), ...arrayProblems(node)]),
];

/** The problems OpenAI reports with `strict: true`. */
export const strictProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] =>
  strictProblemsBut(schema, pointer, notPermitted);

/** The problems Azure reports with `strict: true`: also defaults, text lengths and number formats. */
export const azureStrictProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] => [
  ...strictProblemsBut(schema, pointer, [...notPermitted, ...notOnAzure]),
  ...[...schemasIn(schema, pointer)].flatMap(numberFormatProblems),
];

const strictProblemsBut = (schema: unknown, pointer: string, refused: readonly string[]): readonly SchemaProblem[] => {
  const nodes = [...schemasIn(schema, pointer)];
  return [
    ...rootProblems(schema, pointer),
    ...nodes.flatMap((node) => [...draftProblems(node), ...arrayProblems(node), ...strictNodeProblems(node, refused)]),
    ...sizeProblems(nodes, pointer),
  ];
};

/** The place of a problem as OpenAI writes it: `context=('properties', 'a')`. */
const context = (steps: readonly string[]): string =>
  `In context=(${steps.map((step) => `'${step}'`).join(", ")}${steps.length === 1 ? "," : ""})`;

const topCombiners = ["oneOf", "anyOf", "allOf", "enum", "not"];

const rootProblems = (schema: unknown, pointer: string): readonly SchemaProblem[] => {
  if (!isObject(schema)) return [];
  const { type } = schema;
  if (type !== "object") {
    const got = typeof type === "string" ? type : "None";
    return [{ pointer, message: `schema must be a JSON Schema of 'type: "object"', got 'type: "${got}"'.` }];
  }
  const combiner = topCombiners.find((key) => schema[key] !== undefined);
  if (combiner !== undefined) {
    const message =
      "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.";
    return [{ pointer: join(pointer, combiner), message }];
  }
  return schema["properties"] === undefined
    ? [{ pointer, message: `${context([])}, object schema missing properties.` }]
    : [];
};

const arrayProblems = ({ value: schema, pointer, steps }: SchemaNode): readonly SchemaProblem[] =>
  isObject(schema) && typesOf(schema).includes("array") && schema["items"] === undefined
    ? [{ pointer, message: `${context(steps)}, array schema missing items.` }]
    : [];

const notPermitted = (
  "allOf oneOf not if then else dependentRequired dependentSchemas patternProperties propertyNames " +
  "minProperties maxProperties unevaluatedProperties unevaluatedItems uniqueItems contains minContains maxContains"
).split(" ");

/** OpenAI was recorded accepting these; Azure answers `default` with 400. */
const notOnAzure = ["default", "minLength", "maxLength"];

const numberFormatProblems = ({ value: schema, pointer, steps }: SchemaNode): readonly SchemaProblem[] =>
  isObject(schema) && typeof schema["format"] === "string" && isNumeric(schema) && !formats.has(schema["format"])
    ? [{ pointer: join(pointer, "format"), message: `${context(steps)}, '${schema["format"]}' is not a valid format.` }]
    : [];

const isNumeric = (schema: Record<string, unknown>): boolean =>
  typesOf(schema).some((type) => type === "integer" || type === "number");

const formats: ReadonlySet<unknown> = new Set([
  "date-time",
  "time",
  "date",
  "duration",
  "email",
  "hostname",
  "ipv4",
  "ipv6",
  "uuid",
]);

const strictNodeProblems = (node: SchemaNode, refused: readonly string[]): readonly SchemaProblem[] => {
  const { value: schema, pointer, steps } = node;
  if (!isObject(schema)) return [];
  if (typeof schema["$ref"] === "string") return refProblems(schema, node);
  const at = context(steps);
  const { format, pattern } = schema;
  return [
    ...objectProblems(schema, node),
    ...refused
      .filter((key) => schema[key] !== undefined && !(steps.length === 0 && topCombiners.includes(key)))
      .map((key) => ({ pointer: join(pointer, key), message: `${at}, '${key}' is not permitted.` })),
    ...(typeof format === "string" && !formats.has(format) && !isNumeric(schema)
      ? [{ pointer: join(pointer, "format"), message: `${at}, '${format}' is not a valid format.` }]
      : []),
    ...(typeof pattern === "string" && /\(\?<?[=!]/.test(pattern)
      ? [{ pointer: join(pointer, "pattern"), message: `${at}, look-around in 'pattern' is not permitted.` }]
      : []),
    ...(steps.length > 0 && !isTyped(schema) ? [{ pointer, message: `${at}, schema must have a 'type' key.` }] : []),
  ];
};

const isTyped = (schema: Record<string, unknown>): boolean =>
  ["type", "anyOf", "oneOf", "allOf", "enum", "const"].some((key) => schema[key] !== undefined);

const refProblems = (schema: Record<string, unknown>, { pointer, steps }: SchemaNode): readonly SchemaProblem[] => {
  const siblings = Object.keys(schema).filter((key) => key !== "$ref" && key !== "$defs" && key !== "definitions");
  if (siblings.length === 0 || steps.length === 0) return [];
  return [
    {
      pointer,
      message: `${context(steps)}, $ref cannot have keywords {${siblings.map((key) => `'${key}'`).join(", ")}}.`,
    },
  ];
};

const objectProblems = (schema: Record<string, unknown>, { pointer, steps }: SchemaNode): readonly SchemaProblem[] => {
  if (!typesOf(schema).includes("object")) return [];
  const at = context(steps);
  const required = new Set(asArray(schema["required"]));
  const declared = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
  const names = new Set<unknown>(declared);
  return [
    ...(schema["additionalProperties"] === false
      ? []
      : [{ pointer, message: `${at}, 'additionalProperties' is required to be supplied and to be false.` }]),
    ...declared
      .filter((name) => !required.has(name))
      .slice(0, 1)
      .map((name) => ({
        pointer,
        message: `${at}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${name}'.`,
      })),
    ...[...required]
      .filter((name) => typeof name === "string" && !names.has(name))
      .map((name) => ({
        pointer: join(pointer, "required"),
        message: `${at}, 'required' has the extra key '${String(name)}'.`,
      })),
  ];
};

const limits = { properties: 5000, depth: 10, letters: 120_000, values: 1000 };

const sizeProblems = (nodes: readonly SchemaNode[], pointer: string): readonly SchemaProblem[] => {
  let properties = 0;
  let letters = 0;
  let values = 0;
  for (const { value: schema } of nodes) {
    if (!isObject(schema)) continue;
    const names = isObject(schema["properties"]) ? Object.keys(schema["properties"]) : [];
    const listed = [...asArray(schema["enum"]), schema["const"]].filter((value) => typeof value === "string");
    properties += names.length;
    values += asArray(schema["enum"]).length;
    letters += [...names, ...listed].reduce((sum, text) => sum + text.length, 0);
  }
  const depth = nodes.reduce((most, node) => Math.max(most, node.depth), 0);
  const over = (has: number, most: number, what: string): readonly SchemaProblem[] =>
    has > most ? [{ pointer, message: `${what}: ${has} exceeds the limit of ${most}.` }] : [];
  return [
    ...over(properties, limits.properties, "object properties in total"),
    ...over(depth, limits.depth, "levels of nesting"),
    ...over(letters, limits.letters, "characters in names and enum values"),
    ...over(values, limits.values, "enum values in total"),
  ];
};
