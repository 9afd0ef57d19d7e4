import { z } from "zod";
import type { ShellCommandResult } from "./capabilities.ts";
import { defineTool, type AnyTool, type ToolResult } from "./tool.ts";

const input = z.object({
  command: z.string().min(1).describe("The exact command line, run with bash -c."),
  description: z.string().optional().describe("What it is for, in a few words, for the person who is asked."),
  directory: z
    .string()
    .optional()
    .describe("The folder to run it in, relative to the workspace; its root if not given."),
});

export const runShellCommand: AnyTool = defineTool({
  name: "run_shell_command",
  description:
    "Runs a command line with bash. Processes left in the background with & go on; kill -- -PGID stops all of a command's processes. Gives Command, Directory, Output, Error, Exit Code, Signal, Background PIDs and Process Group PGID.",
  access: "execute",
  input,
  aliases: { directory: ["dir_path"] },
  touches: ({ command, directory = "" }) => ({ command: { text: command, folder: directory } }),
  title: ({ command, description }) => (description === undefined ? command : `${command} (${description})`),
  run: async ({ command, directory = "" }, { shell, report, signal }) => {
    const outcome = await shell.run({ text: command, folder: directory, signal, report });
    return toToolResult(command, directory, outcome);
  },
});

const none = "(none)";

const toToolResult = (command: string, directory: string, outcome: ShellCommandResult): ToolResult => {
  const { output, error, code, signal, background, group, ended } = outcome;
  const lines = [
    `Command: ${command}`,
    `Directory: ${directory === "" ? "(root)" : directory}`,
    `Output: ${output === "" ? "(empty)" : output}`,
    `Error: ${error ?? describeEnd(outcome)}`,
    `Exit Code: ${code ?? none}`,
    `Signal: ${signal ?? none}`,
    `Background PIDs: ${background.length === 0 ? none : background.join(", ")}`,
    `Process Group PGID: ${group ?? none}`,
  ].join("\n");
  const result: ToolResult = {
    content: [{ type: "text", text: lines }],
    display: { type: "text", text: output === "" ? summarize(outcome) : output },
  };
  if (ended === "timeout") return { ...result, error: { type: "timeout", message: describeEnd(outcome) } };
  return result;
};

const describeEnd = ({ ended, background }: ShellCommandResult): string => {
  if (ended === "exit") return none;
  const why = ended === "timeout" ? "The command ran too long and was" : "The command was cancelled and";
  return background.length === 0
    ? `${why} stopped with all it had started.`
    : `${why} told to stop, but it may still be running (${background.join(", ")}).`;
};

/** What people see of a command that printed nothing. */
const summarize = (outcome: ShellCommandResult): string => {
  const { code, signal, ended } = outcome;
  if (ended !== "exit") return describeEnd(outcome);
  if (signal !== undefined) return `Ended by ${signal}`;
  return code === 0 ? "Done, no output" : `Ended with exit code ${code ?? "unknown"}, no output`;
};
