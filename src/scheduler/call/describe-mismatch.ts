import type { z } from "zod";
import type { Tool } from "../../tools/tool.ts";

type SchemaIssue = z.core.$ZodIssue;

/** Describes schema mismatches, one line each: path, expected, actual. */
export const describeMismatches = (issues: readonly SchemaIssue[], raw: unknown): string =>
  issues
    .slice(0, maxLines)
    .map((issue) => `- ${formatPath(issue.path)}: ${describeIssue(issue, raw)}`)
    .join("\n");

const maxLines = 20;

const formatPath = (path: readonly PropertyKey[]): string =>
  path.length === 0
    ? "arguments"
    : path
        .map((key, index) => (typeof key === "number" ? `[${key}]` : `${index > 0 ? "." : ""}${String(key)}`))
        .join("");

const describeIssue = (issue: SchemaIssue, raw: unknown): string => {
  if (issue.code === "unrecognized_keys") return `unknown parameter ${issue.keys.join(", ")}`;
  const expected = /expected (.+?)(?:, received .*)?$/s.exec(issue.message)?.[1];
  const said = expected === undefined ? describeUnion(issue) : `expected ${expected}`;
  return `${said}, got ${describeValue(valueAt(raw, issue.path))}`;
};

/** For a union, lists what each member expects. */
const describeUnion = (issue: SchemaIssue): string => {
  if (issue.code !== "invalid_union") return issue.message;
  const members = issue.errors.flatMap(
    ([first]) => /expected (.+?)(?:, received .*)?$/s.exec(first?.message ?? "")?.[1] ?? [],
  );
  return members.length === 0 ? issue.message : `expected ${members.join(" or ")}`;
};

const valueAt = (raw: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<PropertyKey, unknown>)[key]
        : undefined,
    raw,
  );

const describeValue = (value: unknown): string => {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value === "object" && value !== null) return "an object";
  const text = JSON.stringify(value);
  const short = text.length <= 60 ? text : `${text.slice(0, 60).toWellFormed()}...`;
  return value === null ? "null" : `the ${typeof value} ${short}`;
};

/** Lists the parameters of a tool in one line. */
export const describeParameters = async (tool: Tool): Promise<string> => {
  const schema = await inputSchemaOf(tool);
  const required = new Set(schema.required);
  const parameters = Object.entries(schema.properties ?? {}).map(
    ([name, value]) => `${name} (${describeType(value)}${required.has(name) ? ", required" : ""})`,
  );
  return parameters.length === 0
    ? `${tool.name} takes no parameters.`
    : `${tool.name} takes: ${parameters.join(", ")}.`;
};

const inputSchemaOf = async ({ parameters, input }: Tool): Promise<z.core.JSONSchema.BaseSchema> => {
  const declared = parameters ?? input.jsonSchema;
  if (declared !== undefined) return declared as z.core.JSONSchema.BaseSchema;
  const { toJSONSchema } = await import("zod");
  return toJSONSchema(input as z.ZodType, { io: "input", unrepresentable: "any" });
};

const describeType = (schema: z.core.JSONSchema._JSONSchema): string => {
  if (typeof schema === "boolean") return "anything";
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array")
    return `list of ${schema.items === undefined || Array.isArray(schema.items) ? "anything" : describeType(schema.items)}`;
  const members = schema.anyOf ?? schema.oneOf;
  if (members !== undefined) return members.map(describeType).join(" or ");
  return schema.type === undefined ? "anything" : [schema.type].flat().join(" or ");
};
