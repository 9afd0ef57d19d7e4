import { list, object, oneOf, string } from "../schema.ts";
import { listTodos, todoStatuses, type TodoItem } from "../../conversation/todo.ts";
import { defineTool, ToolFailure, type AnyTool } from "../tool.ts";

const input = object({
  todos: list(object({ description: string({ minLength: 1 }), status: oneOf(todoStatuses) }), {
    maxItems: 100,
    description: "The whole list, in order.",
  }),
});

export const writeTodos: AnyTool = defineTool({
  name: "write_todos",
  description:
    "Replaces your to-do list, which the user sees. Keep one for work of three or more steps, with one item in_progress.",
  access: "read",
  input,
  touches: () => ({}),
  title: ({ todos }) => summarizeTodos(todos),
  run: async ({ todos }, { todos: list }) => {
    if (list === undefined) throw new ToolFailure("execution_failed", "There is no to-do list in this conversation.");
    await list.replace(todos);
    const text = todos.length === 0 ? "The to-do list is empty." : `The to-do list is now:\n${listTodos(todos)}`;
    return {
      content: [{ type: "text", text }],
      // The title says enough: front ends show the list itself.
      display: { type: "text", text: "" },
    };
  },
});

const summarizeTodos = (todos: readonly TodoItem[]): string => {
  const done = todos.filter(({ status }) => status === "completed").length;
  const current = todos.find(({ status }) => status === "in_progress");
  return `${done} of ${todos.length} done${current === undefined ? "" : `: ${current.description}`}`;
};
