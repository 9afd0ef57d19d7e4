import { z } from "zod";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "../../tools/tool.ts";
import type { SubagentDefinition } from "./agent-file.ts";
import { declareTaskTool, taskToolName } from "./task-declaration.ts";

/** A task for a subagent. */
export type SubagentTask = {
  readonly description: string;
  readonly prompt: string;
  readonly agent?: SubagentDefinition;
};

/** Runs a task. Throws a `ToolFailure`. */
export type RunTask = (
  task: SubagentTask,
  context: { readonly report: (text: string) => void; readonly signal: AbortSignal },
) => Promise<ToolResult>;

/** Creates the tool that starts subagents. Their tool calls need approval as usual; starting them does not. */
export const createTaskTool = (agents: readonly SubagentDefinition[], runTask: RunTask): AnyTool =>
  defineTool({
    name: taskToolName,
    description: declareTaskTool(agents).description ?? "",
    access: "read",
    hasNoTimeout: true,
    input: z.object({ description: z.string().min(1), prompt: z.string().min(1), agent: z.string().optional() }),
    touches: () => ({}),
    title: ({ description, agent }) => `${agent ?? taskToolName}: ${description}`,
    run: ({ description, prompt, agent: name }, context) => {
      const agent = agents.find((each) => each.name === name);
      if (name !== undefined && agent === undefined)
        throw new ToolFailure(
          "invalid_tool_params",
          agents.length === 0
            ? `There is no agent "${name}". Leave it out to have one like you.`
            : `There is no agent "${name}". There are ${agents.map((each) => each.name).join(", ")}.`,
        );
      return runTask({ description, prompt, ...(agent === undefined ? {} : { agent }) }, context);
    },
  });
