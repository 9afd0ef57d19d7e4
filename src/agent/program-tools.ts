import type { ToolDeclaration } from "../conversation/entry.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { declareTool } from "../tools/declare.ts";
import type { AnyTool } from "../tools/tool.ts";

/** The tools a program chose: its own, and the names of built-in ones. */
export type ProgramTools = { readonly tools: readonly AnyTool[]; readonly names?: readonly string[] | undefined };

/**
 * Returns the declarations of the built-in tools a program chose, and of its own tools after them. Throws an
 * `UnknownNameError` for a built-in tool that does not exist, a `TypeError` for a name that is used twice and for what
 * is no tool.
 */
export const declareProgramTools = async (
  builtin: readonly ToolDeclaration[],
  { tools, names }: ProgramTools,
): Promise<readonly ToolDeclaration[]> => {
  const available = builtin.map(({ name }) => name);
  for (const name of names ?? [])
    if (!available.includes(name)) throw new UnknownNameError("built-in tool", name, available);
  if (!Array.isArray(tools)) throw new TypeError("tools must be a list of tools made with defineTool.");
  for (const tool of tools) checkTool(tool);
  const taken = new Set(available);
  for (const { name } of tools) {
    if (taken.has(name))
      throw new TypeError(
        available.includes(name)
          ? `The tool "${name}" has the name of a built-in tool. Give it another name.`
          : `Two tools are named "${name}". Give one of them another name.`,
      );
    taken.add(name);
  }
  return [
    ...builtin.filter(({ name }) => names?.includes(name) ?? true),
    ...(await Promise.all(tools.map((tool) => declareTool(tool)))),
  ];
};

/** The fields every tool has: what they must be, and whether a value is that. */
const toolFields: readonly (readonly [keyof AnyTool, string, (value: unknown) => boolean])[] = [
  ["name", "a text", (value) => typeof value === "string" && value !== ""],
  ["description", "a text", (value) => typeof value === "string"],
  [
    "access",
    '"read", "write", "execute" or "network"',
    (value) => ["read", "write", "execute", "network"].includes(String(value)),
  ],
  [
    "input",
    "a Zod type, such as z.object({ city: z.string() })",
    (value) => typeof (value as { safeParseAsync?: unknown } | undefined)?.safeParseAsync === "function",
  ],
  ["run", "a function", (value) => typeof value === "function"],
  ["touches", "a function; defineTool adds it", (value) => typeof value === "function"],
];

/** Throws a `TypeError` that names the first wrong field: programs in JavaScript have no other check. */
const checkTool = (tool: AnyTool): void => {
  const wrong = toolFields.find(([field, , isRight]) => !isRight(tool[field]));
  if (wrong === undefined) return;
  const [field, expected] = wrong;
  throw new TypeError(
    field === "name"
      ? "A tool has no name."
      : `The tool "${tool.name}" is not complete: "${field}" must be ${expected}.`,
  );
};
