import { tooMany } from "./error-text.ts";
import type { ReportFinding } from "../rule.ts";
import { schemaProblems, type SchemaDialect } from "../schema/problems.ts";
import { asArray, asObject, asString, isObject } from "../walk.ts";

const mostTools = 128;

/** Reports a request with more tools than OpenAI takes. */
export const checkToolCount = (body: unknown, report: ReportFinding): void => {
  const count = asArray(asObject(body)["tools"]).length;
  if (count > mostTools) report("/tools", tooMany("/tools", mostTools, count));
};

/** The parameters of one function, with their pointer. */
export type DeclaredSchema = { readonly at: string; readonly name: string | undefined; readonly parameters: unknown };

/** Reports what a dialect refuses in the parameters of a function, in that vendor's wording. */
export const checkParameters = (
  { at, name, parameters }: DeclaredSchema,
  dialect: SchemaDialect,
  report: ReportFinding,
): void => {
  for (const { pointer, message } of schemaProblems(parameters, dialect, at)) {
    report(pointer, schemaText(message, name, dialect));
  }
};

const schemaText = (message: string, name: string | undefined, dialect: SchemaDialect): string => {
  if (dialect === "kimi")
    return `tools.function.parameters is not a valid moonshot flavored json schema, details: <${message}>`;
  if (dialect === "mistral") return `Invalid tool schema: ${message}`;
  return `Invalid schema for function '${name ?? ""}': ${message}`;
};

/** Reports what OpenAI refuses in a strict response schema. */
export const checkAnswerSchema = (
  format: Record<string, unknown>,
  at: string,
  dialect: SchemaDialect,
  report: ReportFinding,
): void => {
  const { schema, strict, name } = format;
  if (strict !== true || !isObject(schema)) return;
  for (const { pointer, message } of schemaProblems(schema, dialect, at)) {
    report(pointer, `Invalid schema for response_format '${asString(name) ?? ""}': ${message}`);
  }
};

/** Reports what OpenAI accepts with `strict: true` and Azure does not. */
export const checkPortableStrict = (schema: unknown, at: string, report: ReportFinding): void => {
  const own = new Set(schemaProblems(schema, "openai-strict", at).map(({ pointer }) => pointer));
  for (const { pointer, message } of schemaProblems(schema, "azure-strict", at)) {
    if (!own.has(pointer)) report(pointer, `${message} So says Azure; OpenAI takes it.`);
  }
};

/** The message for a strict function without parameters. */
export const strictWithoutParameters = (name: string | undefined): string =>
  `Invalid schema for function '${name ?? ""}': In context=(), 'additionalProperties' is required to be supplied and to be false.`;

/** The advice for arguments that this API accepts as any text. */
export const looseArguments = "Arguments that are not the text of a JSON object are refused by most other APIs.";
