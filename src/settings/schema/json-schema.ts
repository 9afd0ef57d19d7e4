import type { SettingField, SettingFields, Shape, ShapeOf, SettingTextFormat } from "./shape.ts";
import { createFileShape } from "./file-shape.ts";

/** A JSON Schema, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Creates the JSON Schema of a settings file, for editors. */
export const createSettingsSchema = (): JsonSchema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Parley settings",
  // Extensions that editors understand.
  allowComments: true,
  allowTrailingCommas: true,
  ...createShapeSchema(createFileShape()),
});

const createShapeSchema = (shape: Shape): JsonSchema => {
  switch (shape.type) {
    case "string":
      return { type: "string", ...(shape.format === undefined ? {} : formats[shape.format]) };
    case "enum":
      return { enum: shape.of };
    case "boolean":
      return { type: "boolean" };
    case "number":
      return {
        type: shape.isInteger ? "integer" : "number",
        minimum: shape.min,
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case "list":
      return createListSchema(shape);
    case "record":
      return {
        type: "object",
        ...(shape.format === undefined ? {} : { propertyNames: formats[shape.format] }),
        additionalProperties: createShapeSchema(shape.of),
      };
    case "object":
      return createFieldsSchema(shape);
    case "union":
      return { anyOf: shape.of.map(createShapeSchema) };
  }
};

const formats: Readonly<Record<SettingTextFormat, JsonSchema>> = {
  rule: {
    pattern:
      "^\\s*([A-Za-z_][\\w.-]*|(run_shell_command|Bash|Read|Grep|Glob|LS|Edit|MultiEdit|Write|NotebookEdit|WebFetch)\\(.+\\)|(server|host|path):.+)\\s*$",
  },
  url: { pattern: "^[hH][tT][tT][pP][sS]?://" },
  model: { pattern: "^[^\\s/]+/\\S+$" },
  name: { pattern: "^\\S+$" },
};

const createListSchema = ({ of, isNonEmpty: filled, allowsSingle: lenient }: ShapeOf<"list">): JsonSchema => {
  const list = { type: "array", items: createShapeSchema(of), ...(filled ? { minItems: 1 } : {}) };
  return lenient ? { anyOf: [list, createShapeSchema(of)] } : list;
};

const createFieldsSchema = ({ fields, oneOf }: ShapeOf<"object">): JsonSchema => {
  const required = Object.keys(fields).filter((name) => fields[name]?.required);
  return {
    type: "object",
    properties: createProperties(fields),
    ...(required.length === 0 ? {} : { required }),
    ...(oneOf === undefined ? {} : { anyOf: oneOf.map((name) => ({ required: [name] })) }),
    additionalProperties: false,
  };
};

const createProperties = (fields: SettingFields): JsonSchema =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]: readonly [string, SettingField]) => [
      name,
      {
        description: field.description,
        ...createShapeSchema(field.shape),
        ...(field.default === undefined ? {} : { default: field.default }),
      },
    ]),
  );
