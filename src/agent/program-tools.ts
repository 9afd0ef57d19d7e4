import type { ToolDeclaration } from "../conversation/entry.ts";
import { UnknownNameError } from "../providers/unknown-name.ts";
import { declareTool } from "../tools/declare.ts";
import type { AnyTool } from "../tools/tool.ts";

/** The tools a program chose: its own, and the names of built-in ones. */
export type ProgramTools = { readonly tools: readonly AnyTool[]; readonly names?: readonly string[] | undefined };

/**
 * Returns the declarations of the built-in tools a program chose, and of its own tools after them. Throws an
 * `UnknownNameError` for a built-in tool that does not exist, a `TypeError` for a name that is used twice.
 */
export const declareProgramTools = async (
  builtin: readonly ToolDeclaration[],
  { tools, names }: ProgramTools,
): Promise<readonly ToolDeclaration[]> => {
  const available = builtin.map(({ name }) => name);
  for (const name of names ?? [])
    if (!available.includes(name)) throw new UnknownNameError("built-in tool", name, available);
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
