import type { ToolDeclaration } from "../conversation/entry.ts";
import type { JsonObject } from "../conversation/json.ts";
import { builtinDeclarations } from "./declarations.data.ts";

/** The built-in tools as sent to models on this platform: on Windows, commands run with `cmd.exe`. */
export const declarationsForPlatform = (platform: string): readonly ToolDeclaration[] =>
  platform === "win32"
    ? builtinDeclarations.map((each) => (each.name === "run_shell_command" ? forCmd(each) : each))
    : builtinDeclarations;

const forCmd = (declaration: ToolDeclaration): ToolDeclaration => {
  const { properties, ...parameters } = declaration.parameters as { properties: Record<string, JsonObject> };
  const command = { ...properties["command"], description: "The exact command line, run with cmd.exe /c. One line." };
  return {
    ...declaration,
    description:
      "Runs a command line with cmd.exe on Windows. start /b starts a background process. Returns Command, Directory, Output, Error, Exit Code, Signal, Background PIDs and Process Group PGID.",
    parameters: { ...parameters, properties: { ...properties, command } },
  };
};
