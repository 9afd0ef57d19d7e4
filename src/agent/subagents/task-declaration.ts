import type { ToolDeclaration } from "../../conversation/entry.ts";
import type { SubagentDefinition } from "./agent-file.ts";

/** The name of the tool that starts a subagent. */
export const taskToolName = "task";

/** The task tool as models see it, with the defined agents. */
export const declareTaskTool = (
  agents: readonly Pick<SubagentDefinition, "name" | "description" | "remote">[],
): ToolDeclaration => ({
  name: taskToolName,
  description: [
    "Gives a piece of work to another agent, which works on its own with its own context and answers once. It sees nothing of this conversation. Good for searches and other work whose details you do not need; several can work at once.",
    ...(agents.length === 0
      ? []
      : [
          "Agents:",
          ...agents.map(
            ({ name, description, remote }) =>
              `- ${name}: ${oneLine(description)}${remote === undefined ? "" : remoteNote}`,
          ),
        ]),
  ].join("\n"),
  parameters: {
    type: "object",
    properties: {
      description: { type: "string", minLength: 1, description: "What it is about, in three to six words." },
      prompt: { type: "string", minLength: 1, description: "The whole task, and what to answer with." },
      agent: {
        type: "string",
        ...(agents.length === 0 ? {} : { enum: agents.map(({ name }) => name) }),
        description: "Which agent; without it, one like you.",
      },
      background: { type: "boolean", description: "Return an id at once; a notice has the answer." },
    },
    required: ["description", "prompt"],
  },
});

const remoteNote =
  " (On another server: it has no access to files here, and a second task continues its conversation.)";

const oneLine = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 300);
