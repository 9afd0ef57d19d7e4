import { z, type ZodType } from "zod";
import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import type { AnyTool } from "./tool.ts";

/** A tool as it is offered to models: its parameters as JSON Schema, made from the schema that checks them. */
export const declareTool = async ({
  name,
  description: about,
  input,
  parameters,
}: AnyTool): Promise<ToolDeclaration> => ({
  name,
  description: about,
  parameters:
    parameters ?? (dropNoise(z.toJSONSchema(input as ZodType, { io: "input", target: "draft-7" })) as JsonObject),
});

/** Without what says nothing to a model: the dialect's name, and the largest numbers a computer can count to. */
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
