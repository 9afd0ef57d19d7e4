import { isOpenTodo, type TodoItem, type TodoStatus } from "../../conversation/todo.ts";
import { span, truncate } from "../text/line.ts";
import type { StyledLine, Style } from "../text/style.ts";

/** The most items shown; more are counted. */
const maxItems = 8;

/** Shows a to-do list as long as something is left to do: the items around the next one. */
export const viewTodoList = (todos: readonly TodoItem[], width: number): readonly StyledLine[] => {
  if (!todos.some(isOpenTodo)) return [];
  const done = todos.filter(({ status }) => status === "completed").length;
  const current = todos.findIndex(isOpenTodo);
  const top = Math.max(0, Math.min(current - 2, todos.length - maxItems));
  const below = Math.max(0, todos.length - top - maxItems);
  const counts = [
    `${done} of ${todos.length} done`,
    ...(top > 0 ? [`${top} above`] : []),
    ...(below > 0 ? [`${below} below`] : []),
  ];
  return [
    truncate([span("To do", { bold: true }), span(`  ${counts.join(", ")}`, { tone: "muted" })], width),
    ...todos.slice(top, top + maxItems).map(({ description, status }) => {
      const { mark, style } = marks[status];
      return truncate([span(`  ${mark} `, { tone: style.tone ?? "muted" }), span(description, style)], width);
    }),
  ];
};

const marks: Readonly<Record<TodoStatus, { readonly mark: string; readonly style: Style }>> = {
  pending: { mark: "○", style: {} },
  in_progress: { mark: "◐", style: { tone: "accent", bold: true } },
  completed: { mark: "✓", style: { tone: "muted" } },
  cancelled: { mark: "⊘", style: { tone: "muted", strike: true } },
};
