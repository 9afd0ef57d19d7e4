import { boolean, object, optional, string } from "./schema.ts";
import type { ShellCommand, ShellCommandResult, TaskOutcome } from "./capabilities.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "./tool.ts";

const input = object({
  command: string({ minLength: 1, description: "The exact command line." }),
  description: optional(string({ description: "Short description of the command's purpose, shown to the user." })),
  directory: optional(
    string({ description: "Directory to run the command in, relative to the workspace. Default: its root." }),
  ),
  background: optional(
    boolean({
      description: "Run in the background: returns an id for background_tasks; a notice follows when it ends.",
    }),
  ),
});

export const runShellCommand: AnyTool = defineTool({
  name: "run_shell_command",
  description:
    "Runs a command line with bash. Background processes started with & keep running; kill -- -PGID stops all processes of a command. Returns Command, Directory, Output, Error, Exit Code, Signal, Background PIDs and Process Group PGID.",
  access: "execute",
  input,
  aliases: { directory: ["dir_path"], background: ["is_background", "run_in_background"] },
  touches: ({ command, directory = "" }) => ({ command: { text: command, folder: directory } }),
  title: ({ command, description, background }) => {
    const notes = [...(description === undefined ? [] : [description]), ...(background ? ["in the background"] : [])];
    return notes.length === 0 ? command : `${command} (${notes.join(", ")})`;
  },
  run: async ({ command, directory = "", background = false }, { shell, tasks, report, signal }) => {
    const work = async (context: Pick<ShellCommand, "signal" | "report" | "detached">): Promise<ToolResult> =>
      toToolResult(command, directory, await shell.run({ text: command, folder: directory, ...context }));
    if (tasks === undefined && background)
      throw new ToolFailure(
        "execution_failed",
        "Commands cannot run in the background here. Run it without background.",
      );
    if (tasks === undefined) return work({ signal, report });
    const task = { kind: "command", title: command, startsInBackground: background, signal, report, work } as const;
    const outcome = await tasks.run(task);
    return outcome.type === "ended" ? outcome.result : describeBackground(command, outcome);
  },
});

/** The result of a command that goes on in the background. */
const describeBackground = (
  command: string,
  { info: { id }, output, byUser }: Extract<TaskOutcome, { type: "background" }>,
): ToolResult => ({
  content: [
    {
      type: "text",
      text: [
        `Command: ${command}`,
        `${byUser ? "The user moved it to the background" : "It runs in the background"} as ${id}. A notice follows when it ends; until then background_tasks reads or stops it.`,
        `Output so far: ${output === "" ? "(empty)" : output}`,
      ].join("\n"),
    },
  ],
  display: { type: "text", text: `Runs in the background as ${id} (/tasks)${output === "" ? "" : `\n${output}`}` },
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
  const why = ended === "timeout" ? "The command timed out and was" : "The command was cancelled and";
  return background.length === 0
    ? `${why} stopped with all its child processes.`
    : `${why} signalled to stop, but may still be running (${background.join(", ")}).`;
};

/** The display of a command that printed nothing. */
const summarize = (outcome: ShellCommandResult): string => {
  const { code, signal, ended } = outcome;
  if (ended !== "exit") return describeEnd(outcome);
  if (signal !== undefined) return `Terminated by ${signal}`;
  return code === 0 ? "Done, no output" : `Exit code ${code ?? "unknown"}, no output`;
};
