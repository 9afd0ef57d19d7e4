import { number, object, oneOf, optional, string } from "../schema.ts";
import type { BackgroundTasks, TaskInfo } from "../capabilities.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "../tool.ts";

/** The longest wait of one call, in seconds: a model should look at what happens meanwhile. */
const maxWait = 600;

const input = object({
  action: oneOf(["list", "read", "stop"], { description: "What to do." }),
  id: optional(string({ description: "The task to read or stop." })),
  wait: optional(number({ minimum: 0, maximum: maxWait, description: "For read: seconds to wait for its end first." })),
});

export const backgroundTasks: AnyTool = defineTool({
  name: "background_tasks",
  description: "Lists commands and agents in the background, reads the new output of one, or stops it.",
  access: "read",
  hasNoTimeout: true,
  input,
  touches: () => ({}),
  title: ({ action, id }) => (id === undefined ? action : `${action} ${id}`),
  run: async ({ action, id, wait = 0 }, { tasks, signal }) => {
    if (tasks === undefined) throw noTask(id ?? "");
    if (action === "list") return textResult(listTasks(tasks.list()));
    if (id === undefined) throw new ToolFailure("invalid_tool_params", `${action} needs the id of a task.`);
    if (action === "stop") return stopTask(tasks, id);
    const report = await tasks.read(id, { waitMs: 1000 * wait, signal });
    if (report === undefined) throw noTask(id);
    const { info, output, result } = report;
    if (result !== undefined)
      return { ...result, content: [{ type: "text", text: describeTask(info) }, ...result.content] };
    return textResult(`${describeTask(info)}\n${output === "" ? "(no new output)" : output}`);
  },
});

const stopTask = async (tasks: BackgroundTasks, id: string): Promise<ToolResult> => {
  const info = await tasks.stop(id);
  if (info === undefined) throw noTask(id);
  return textResult(describeTask(info));
};

const noTask = (id: string): ToolFailure =>
  new ToolFailure("execution_failed", `There is no task "${id}" in the background. All of them end when Parley quits.`);

const textResult = (text: string): ToolResult => ({
  content: [{ type: "text", text }],
  display: { type: "text", text },
});

const listTasks = (tasks: readonly TaskInfo[]): string =>
  tasks.length === 0 ? "Nothing runs in the background." : tasks.map(describeTask).join("\n");

/** A task in one line. */
export const describeTask = ({ id, kind, title, status, elapsedMs, detail }: TaskInfo): string =>
  `${id} (${kind}, ${detail ?? status}, ${Math.round(elapsedMs / 1000)} s): ${title}`;
