import type { ZodType } from "zod";
import type { JsonObject, JsonValue } from "../../conversation/json.ts";
import type { InputSchema } from "../../tools/tool.ts";
import { createOutputFormat } from "../../wire/schema/output.ts";
import type { OutputFormat } from "../../wire/wire.ts";
import { outputNotice } from "../prompts.ts";

/** The schema of answers: a Zod type, or a JSON Schema. */
export type OutputSchema<Output = unknown> = InputSchema<Output> | JsonObject;

/** Holds answers to a schema. */
export type OutputCheck = {
  /** The form of the schema for APIs that enforce it. */
  readonly format: OutputFormat;
  /** Tells the model what its answers must be. */
  readonly notice: string;
  /** Parses and validates an answer. A problem is a sentence for the model and the person. */
  readonly check: (answer: string) => Promise<CheckedOutput>;
};

export type CheckedOutput = { readonly value: unknown } | { readonly problem: string };

/** Creates the check for a schema. Throws a `TypeError` if it is not a valid JSON Schema. */
export const createOutputCheck = async (output: OutputSchema): Promise<OutputCheck> => {
  const { schema, validate } = isZodType(output) ? await fromZodType(output) : await fromJsonSchema(output);
  return {
    format: createOutputFormat(schema),
    notice: outputNotice(JSON.stringify(schema)),
    check: async (answer) => {
      const json = parseAnswer(answer);
      return json === undefined ? { problem: "It is not one JSON value." } : validate(json);
    },
  };
};

type SchemaValidator = {
  readonly schema: JsonObject;
  readonly validate: (value: JsonValue) => CheckedOutput | Promise<CheckedOutput>;
};

const isZodType = (output: OutputSchema): output is InputSchema =>
  "safeParseAsync" in output && typeof output.safeParseAsync === "function";

const fromZodType = async (type: InputSchema): Promise<SchemaValidator> => {
  const { z } = await import("zod");
  // The answer is what goes into the type; what comes out may be something else.
  const { $schema: _, ...schema } = z.toJSONSchema(type as ZodType, { io: "input" });
  return {
    schema: schema as JsonObject,
    validate: async (value) => {
      const { success, data, error } = await type.safeParseAsync(value);
      if (success) return { value: data };
      return { problem: describeProblems(error.issues.map(({ path, message }) => [path.map(String), message])) };
    },
  };
};

const fromJsonSchema = async (schema: JsonObject): Promise<SchemaValidator> => {
  const { compileJsonSchema } = await import("./json-schema.ts");
  const findProblems = compileJsonSchema(schema);
  return {
    schema,
    validate: (value) => {
      const problems = findProblems(value);
      return problems.length === 0 ? { value } : { problem: describeProblems(problems) };
    },
  };
};

const maxProblems = 5;

const describeProblems = (problems: readonly (readonly [path: readonly string[], message: string])[]): string => {
  const lines = problems
    .slice(0, maxProblems)
    .map(([path, message]) => `${path.length === 0 ? "The value" : path.join(".")}: ${message}`);
  return `${[...new Set(lines)].join("; ")}.`;
};

/** Parses an answer that is JSON, bare or in one code fence. */
const parseAnswer = (answer: string): JsonValue | undefined => {
  const [, fenced] = /^\s*```(?:json)?\s*\n(.*)\n\s*```\s*$/s.exec(answer) ?? [];
  try {
    return JSON.parse(fenced ?? answer) as JsonValue;
  } catch {
    return undefined;
  }
};
