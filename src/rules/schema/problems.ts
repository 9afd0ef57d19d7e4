import { draftProblems } from "./draft.ts";
import { kimiProblems } from "./kimi.ts";
import { azureStrictProblems, openaiProblems, strictProblems } from "./openai.ts";
import { schemasIn, typesOf, type SchemaNode, type SchemaProblem } from "./walk.ts";
import { asArray, isObject, join } from "../walk.ts";

/** The flavours of JSON Schema that the APIs read. */
export type SchemaDialect =
  | "gemini-json"
  | "gemini-openapi"
  | "anthropic"
  | "bedrock"
  | "openai"
  | "openai-strict"
  | "azure-strict"
  | "kimi"
  | "mistral";

/**
 * The problems an API of this dialect would report in a declared schema. The messages lack the tool's name; the caller
 * adds the vendor's prefix.
 */
export const schemaProblems = (schema: unknown, dialect: SchemaDialect, pointer: string): readonly SchemaProblem[] => {
  switch (dialect) {
    case "openai":
      return openaiProblems(schema, pointer);
    case "openai-strict":
      return strictProblems(schema, pointer);
    case "azure-strict":
      return azureStrictProblems(schema, pointer);
    case "kimi":
      return kimiProblems(schema, pointer);
    case "mistral":
      return everywhere(schema, pointer, draftProblems);
    case "anthropic":
      return [...anthropicRoot(schema, pointer), ...everywhere(schema, pointer, draftProblems)];
    case "bedrock":
      return objectRoot(schema, pointer, "The value at inputSchema.json.type must be one of the following: object.");
    case "gemini-json":
      return [
        ...objectRoot(schema, pointer, "schema at top-level must be an object"),
        ...everywhere(schema, pointer, malformedProblems),
      ];
    case "gemini-openapi":
      return everywhere(schema, pointer, openapiProblems);
  }
};

const everywhere = (
  schema: unknown,
  pointer: string,
  look: (node: SchemaNode) => readonly SchemaProblem[],
): readonly SchemaProblem[] => [...schemasIn(schema, pointer)].flatMap(look);

const objectRoot = (schema: unknown, pointer: string, message: string): readonly SchemaProblem[] =>
  isObject(schema) && typesOf(schema).some((type) => typeof type === "string" && type.toLowerCase() === "object")
    ? []
    : [{ pointer, message }];

const anthropicRoot = (schema: unknown, pointer: string): readonly SchemaProblem[] => {
  if (!isObject(schema)) return [];
  if (schema["type"] === undefined) return [{ pointer, message: "input_schema.type: Field required" }];
  if (schema["type"] !== "object")
    return [{ pointer: join(pointer, "type"), message: "input_schema.type: Input should be 'object'" }];
  return ["oneOf", "allOf", "anyOf"]
    .filter((key) => schema[key] !== undefined)
    .map((key) => ({
      pointer: join(pointer, key),
      message: "input_schema does not support oneOf, allOf, or anyOf at the top level",
    }));
};

const bounds: ReadonlySet<string> = new Set(
  (
    "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems " +
    "maxItems minProperties maxProperties"
  ).split(" "),
);
const data: ReadonlySet<string> = new Set(["default", "const", "enum", "example", "examples"]);

/**
 * Gemini's JSON Schema field accepts every keyword, but not every value: no null, no number in quotes, no `required`
 * without properties.
 */
const malformedProblems = ({ value: schema, pointer }: SchemaNode): readonly SchemaProblem[] => {
  if (!isObject(schema)) return [];
  return Object.entries(schema)
    .filter(
      ([key, value]) =>
        (value === null && !data.has(key)) ||
        (bounds.has(key) && typeof value !== "number") ||
        (key === "required" && !Array.isArray(value)) ||
        (key === "nullable" && typeof value !== "boolean"),
    )
    .map(([key]) => ({ pointer: join(pointer, key), message: `Invalid value for the keyword '${key}'` }));
};

const openapiKeys: ReadonlySet<string> = new Set(
  (
    "type format title description nullable enum items minItems maxItems properties required " +
    "minProperties maxProperties minLength maxLength pattern example anyOf propertyOrdering default " +
    "minimum maximum"
  ).split(" "),
);

/** Gemini's subset of OpenAPI supports these keywords and one type at a time. */
const openapiProblems = ({ value: schema, pointer }: SchemaNode): readonly SchemaProblem[] => {
  if (!isObject(schema)) return [{ pointer, message: "Invalid value (Schema)" }];
  const texts = asArray(schema["enum"]).every((value) => typeof value === "string");
  return [
    ...Object.keys(schema)
      .filter((key) => !openapiKeys.has(key))
      .map((key) => ({ pointer: join(pointer, key), message: `Unknown name "${key}": Cannot find field.` })),
    ...(Array.isArray(schema["type"])
      ? [
          {
            pointer: join(pointer, "type"),
            message: 'Unknown name "type": Proto field is not repeating, cannot start list.',
          },
        ]
      : []),
    ...(texts ? [] : [{ pointer: join(pointer, "enum"), message: "Invalid value at 'enum' (TYPE_STRING)" }]),
  ];
};
