import { builtinTools } from "../tools/builtins.ts";
import { declareTool } from "../tools/declare.ts";
import type { AnyTool } from "../tools/tool.ts";
import type { CommandHandler } from "./command.ts";
import { UserError } from "./user-error.ts";
import { wrapText } from "./text-table.ts";

/** `parley tools`: lists the built-in tools with access and parameters. */
export const tools: CommandHandler = async (args) => {
  const [name] = args.positionals;
  const listed = name === undefined ? builtinTools : builtinTools.filter((tool) => tool.name === name);
  if (name !== undefined && listed.length === 0) throw await unknownTool(name);
  const described = await Promise.all(listed.map(describeTool));
  const text = args.has("json")
    ? JSON.stringify({ tools: described.map(({ tool, parameters }) => toolJson(tool, parameters)) }, null, 2)
    : described.map(formatTool).join("\n\n");
  process.stdout.write(`${text}\n`);
  return 0;
};

type ToolParameters = { readonly [key: string]: unknown };
type DescribedTool = { readonly tool: AnyTool; readonly parameters: ToolParameters };

const describeTool = async (tool: AnyTool): Promise<DescribedTool> => ({
  tool,
  parameters: (await declareTool(tool)).parameters ?? {},
});

const toolJson = (
  { name, description: about, access, aliases = {} }: AnyTool,
  parameters: ToolParameters,
): unknown => ({
  name,
  description: about,
  access,
  parameters,
  aliases,
});

const formatTool = ({ tool, parameters }: DescribedTool): string => {
  const { name, access, description: about } = tool;
  return [`${name}  (${access})`, wrapText(`  ${about}`, "  "), ...listFields(parameters).map(formatField)].join("\n");
};

type ToolField = { readonly name: string; readonly type: string; readonly required: boolean; readonly about: string };

/** Lists the parameters of a tool from its schema. */
const listFields = ({ properties, required }: ToolParameters): readonly ToolField[] =>
  Object.entries((properties ?? {}) as Readonly<Record<string, ToolParameters>>).map(([name, schema]) => ({
    name,
    type: typeof schema["type"] === "string" ? schema["type"] : "any",
    required: Array.isArray(required) && required.includes(name),
    about: typeof schema["description"] === "string" ? schema["description"] : "",
  }));

const formatField = ({ name, type, required, about }: ToolField): string =>
  wrapText(`    ${name}: ${type}${required ? "" : ", optional"}. ${about}`, "      ");

const unknownTool = async (toolName: string): Promise<UserError> => {
  const { nearestNames } = await import("../conversation/nearest-names.ts");
  const names = builtinTools.map(({ name }) => name);
  const close = nearestNames(toolName, names);
  return new UserError(
    `Unknown tool "${toolName}". ${close.length > 0 ? `Did you mean ${close.join(" or ")}?` : `Available: ${names.join(", ")}.`}`,
  );
};
