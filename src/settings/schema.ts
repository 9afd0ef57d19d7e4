import type { Field, Fields, Shape, ShapeOf, TextFormat } from "./shape.ts";
import { wholeShape } from "./whole.ts";

/** A JSON Schema, as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** The schema of a settings file, for editors. */
export const settingsSchema = (): JsonSchema => ({
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Parley settings",
  // Read by editors that know these files are written by hand.
  allowComments: true,
  allowTrailingCommas: true,
  ...schemaOf(wholeShape()),
});

const schemaOf = (shape: Shape): JsonSchema => {
  switch (shape.type) {
    case "text":
      return { type: "string", ...(shape.format === undefined ? {} : formats[shape.format]) };
    case "choice":
      return { enum: shape.of };
    case "switch":
      return { type: "boolean" };
    case "number":
      return {
        type: shape.whole ? "integer" : "number",
        minimum: shape.least,
        ...(shape.most === undefined ? {} : { maximum: shape.most }),
      };
    case "list":
      return listSchema(shape);
    case "names":
      return {
        type: "object",
        ...(shape.format === undefined ? {} : { propertyNames: formats[shape.format] }),
        additionalProperties: schemaOf(shape.of),
      };
    case "fields":
      return fieldsSchema(shape);
    case "either":
      return { anyOf: shape.of.map(schemaOf) };
  }
};

const formats: Readonly<Record<TextFormat, JsonSchema>> = {
  rule: { pattern: "^\\s*([A-Za-z_][\\w.-]*|run_shell_command\\(.+\\)|(server|host|path):.+)\\s*$" },
  address: { pattern: "^[hH][tT][tT][pP][sS]?://" },
  model: { pattern: "^[^\\s/]+/\\S+$" },
  name: { pattern: "^\\S+$" },
};

const listSchema = ({ of, filled, lenient }: ShapeOf<"list">): JsonSchema => {
  const list = { type: "array", items: schemaOf(of), ...(filled ? { minItems: 1 } : {}) };
  return lenient ? { anyOf: [list, schemaOf(of)] } : list;
};

const fieldsSchema = ({ fields, oneOf }: ShapeOf<"fields">): JsonSchema => {
  const required = Object.keys(fields).filter((name) => fields[name]?.required);
  return {
    type: "object",
    properties: propertiesOf(fields),
    ...(required.length === 0 ? {} : { required }),
    ...(oneOf === undefined ? {} : { anyOf: oneOf.map((name) => ({ required: [name] })) }),
    additionalProperties: false,
  };
};

const propertiesOf = (fields: Fields): JsonSchema =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]: readonly [string, Field]) => [
      name,
      {
        description: field.about,
        ...schemaOf(field.shape),
        ...(field.default === undefined ? {} : { default: field.default }),
      },
    ]),
  );
