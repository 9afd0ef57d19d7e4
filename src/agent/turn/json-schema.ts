import { Ajv } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { JsonObject, JsonValue } from "../../conversation/json.ts";

/** Finds the problems of a value: the path to each, and a message. */
type FindProblems = (value: JsonValue) => readonly (readonly [path: readonly string[], message: string])[];

/**
 * Compiles a JSON Schema: draft 2020-12, or draft 7 if `$schema` names that or an earlier one. `format` is not checked.
 * Throws a `TypeError` if the schema is invalid.
 */
export const compileJsonSchema = (schema: JsonObject): FindProblems => {
  const options = { strict: false, allErrors: true, validateFormats: false };
  const isOld = /draft-0[3-7]/.test(JSON.stringify(schema["$schema"] ?? ""));
  const { $schema: _, $id: __, ...content } = schema;
  try {
    const validate = (isOld ? new Ajv(options) : new Ajv2020(options)).compile(content);
    return (value) => {
      if (validate(value)) return [];
      return (validate.errors ?? []).map(({ instancePath, message = "is invalid", params }) => [
        instancePath.split("/").slice(1),
        describeError(message, params),
      ]);
    };
  } catch (error) {
    throw new TypeError(`Invalid JSON Schema: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
};

/** Adds what the message leaves out: the listed values, or the name of a property too many. */
const describeError = (message: string, { allowedValues, additionalProperty }: Record<string, unknown>): string => {
  if (Array.isArray(allowedValues))
    return `${message}: ${allowedValues.map((value) => JSON.stringify(value)).join(", ")}`;
  return typeof additionalProperty === "string" ? `${message}: ${additionalProperty}` : message;
};
