import type { Call } from "../../conversation/parts.ts";
import { nearestNames } from "../../conversation/nearest-names.ts";
import { ToolFailure, type AnyTool, type Tool } from "../../tools/tool.ts";
import { describeMismatches, describeParameters } from "./describe-mismatch.ts";
import type { RegisteredTool, ToolRegistry } from "../registry.ts";
import { sanitizeLine } from "../result/sanitize-display.ts";

/** A call whose tool exists and whose arguments fit its schema. */
export type ValidCall = {
  readonly tool: Tool;
  readonly input: unknown;
  /** One line for the user. */
  readonly title: string;
  readonly server: string | undefined;
  readonly identity: RegisteredTool["identity"];
};

/** Finds the tool of a call and parses its arguments. Throws a `ToolFailure` that tells the model what is wrong. */
export const validateCall = async ({ tool: name, input }: Call, tools: ToolRegistry): Promise<ValidCall> => {
  const found = tools.find(name);
  if (found === undefined) throw unknownTool(name, tools.names());
  const tool = asTool(found.tool);
  if (input.type === "malformed")
    throw new ToolFailure(
      "invalid_tool_params",
      `The arguments of ${name} are not a JSON object: ${shorten(input.text)}\n${await describeParameters(tool)}`,
    );
  return validateInput(tool, normalizeInput(tool, input.value), found);
};

/** Parses arguments with the schema of a tool. */
export const validateInput = async (
  tool: Tool,
  raw: unknown,
  { server, identity }: Pick<RegisteredTool, "server" | "identity">,
): Promise<ValidCall> => {
  const parsed = await tool.input.safeParseAsync(raw);
  if (parsed.success)
    return { tool, input: parsed.data, title: sanitizeLine(tool.title(parsed.data)), server, identity };
  throw new ToolFailure(
    "invalid_tool_params",
    `The arguments of ${tool.name} do not fit:\n${describeMismatches(parsed.error.issues, raw)}\n${await describeParameters(tool)}`,
  );
};

/**
 * A registry does not know the input types of its tools; from here on the input is what the tool's own schema returned.
 */
const asTool = (tool: AnyTool): Tool => tool as unknown as Tool;

const unknownTool = (name: string, names: readonly string[]): ToolFailure => {
  const near = nearestNames(name, names);
  const hint =
    near.length > 0 ? `Did you mean ${near.join(" or ")}?` : `There are ${names.slice(0, maxNames).join(", ")}.`;
  return new ToolFailure("tool_not_registered", `There is no tool ${JSON.stringify(shorten(name))}. ${hint}`);
};

const maxNames = 40;

const shorten = (text: string): string => (text.length <= 200 ? text : `${text.slice(0, 200).toWellFormed()}...`);

/** Applies the tool's parameter aliases and its own normalization. */
const normalizeInput = (tool: Tool, value: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  const renamed = new Map(Object.entries(value));
  for (const [parameter, others] of Object.entries(tool.aliases ?? {})) {
    const alias = others.find((other) => renamed.has(other));
    if (alias === undefined || renamed.has(parameter)) continue;
    renamed.set(parameter, renamed.get(alias));
    renamed.delete(alias);
  }
  const named = Object.fromEntries(renamed);
  return tool.normalizeInput?.(named) ?? named;
};
