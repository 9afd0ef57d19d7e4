import type { ZodType } from "zod";
import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { AnyTool, InputSchema } from "./tool.ts";

/** Declares a tool for models: its parameters as JSON Schema, generated from the schema that validates them. */
export const declareTool = async ({ name, description, input, parameters }: AnyTool): Promise<ToolDeclaration> => ({
  name,
  description,
  parameters: parameters ?? input.jsonSchema ?? (await toJsonSchema(input)),
});

const toJsonSchema = async (input: InputSchema): Promise<JsonObject> => {
  const { toJSONSchema } = await import("zod");
  return dropNoise(toJSONSchema(input as ZodType, { io: "input", target: "draft-7" })) as JsonObject;
};

/** Removes what tells a model nothing: the schema dialect, and limits at the largest safe integer. */
const dropNoise = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(dropNoise);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(
        ([key, each]) => key !== "$schema" && !(typeof each === "number" && Math.abs(each) === Number.MAX_SAFE_INTEGER),
      )
      .map(([key, each]) => [key, dropNoise(each)]),
  );
};
