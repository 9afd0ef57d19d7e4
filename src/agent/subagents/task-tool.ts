import { boolean, object, optional, string } from "../../tools/schema.ts";
import { defineTool, ToolFailure, type AnyTool, type ToolResult } from "../../tools/tool.ts";
import type { AskUser, TaskOutcome } from "../../tools/capabilities.ts";
import type { SubagentDefinition } from "./agent-file.ts";
import { namedVariables } from "./remote/named-variables.ts";
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
  context: {
    readonly report: (text: string) => void;
    readonly signal: AbortSignal;
    /** Asks the person; undefined where there is none. */
    readonly askUser?: AskUser | undefined;
  },
) => Promise<ToolResult>;

/** Creates the tool that starts subagents. Their tool calls need approval as usual; so does a task for a remote agent. */
export const createTaskTool = (agents: readonly SubagentDefinition[], runTask: RunTask): AnyTool =>
  defineTool({
    name: taskToolName,
    description: declareTaskTool(agents).description ?? "",
    access: "read",
    hasNoTimeout: true,
    input: object({
      description: string({ minLength: 1 }),
      prompt: string({ minLength: 1 }),
      agent: optional(string()),
      background: optional(boolean()),
    }),
    touches: () => ({}),
    remoteAgent: ({ agent: name, prompt }) => {
      const remote = agents.find((each) => each.name === name)?.remote;
      if (name === undefined || remote === undefined) return undefined;
      return { name, prompt, url: remote.url, identity: remote.digest, variables: namedVariables(remote) };
    },
    title: ({ description, agent }) => `${agent ?? taskToolName}: ${description}`,
    run: async ({ description, prompt, agent: name, background = false }, { tasks, report, signal, askUser }) => {
      const agent = agents.find((each) => each.name === name);
      if (name !== undefined && agent === undefined)
        throw new ToolFailure(
          "invalid_tool_params",
          agents.length === 0
            ? `There is no agent "${name}". Leave it out to have one like you.`
            : `There is no agent "${name}". There are ${agents.map((each) => each.name).join(", ")}.`,
        );
      const task = { description, prompt, ...(agent === undefined ? {} : { agent }) };
      if (tasks === undefined) return runTask(task, { report, signal, askUser });
      const outcome = await tasks.run({
        kind: "agent",
        title: `${name ?? taskToolName}: ${description}`,
        startsInBackground: background || agent?.background === true,
        signal,
        report,
        work: (context) => runTask(task, { ...context, askUser }),
      });
      return outcome.type === "ended" ? outcome.result : describeBackground(outcome);
    },
  });

/** The result of a task that goes on in the background. */
const describeBackground = ({ info: { id }, byUser }: Extract<TaskOutcome, { type: "background" }>): ToolResult => ({
  content: [
    {
      type: "text",
      text: `${byUser ? "The user moved the agent to the background" : "The agent works in the background"} as ${id}. You get its answer when it ends; until then use background_tasks to wait for it or stop it.`,
    },
  ],
  display: { type: "text", text: `Works in the background as ${id} (/tasks)` },
});
