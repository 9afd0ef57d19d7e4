/** The states of an item, in the order models see them. */
export const todoStatuses = ["pending", "in_progress", "completed", "cancelled"] as const;

export type TodoStatus = (typeof todoStatuses)[number];

/** One item of the to-do list that a model keeps for the user to see. */
export type TodoItem = { readonly description: string; readonly status: TodoStatus };

/** The list as text, one item per line. */
export const listTodos = (todos: readonly TodoItem[]): string =>
  todos.map(({ description, status }, at) => `${at + 1}. [${status}] ${description}`).join("\n");

/** Whether an item still has to be done. */
export const isOpenTodo = ({ status }: TodoItem): boolean => status === "pending" || status === "in_progress";
