import type { TaskInfo } from "../../tools/capabilities.ts";
import { lineWidth, span, truncate } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";

/** Shows the running background tasks in one line; nothing if there is none. */
export const viewTaskRow = (tasks: readonly TaskInfo[], width: number): readonly StyledLine[] => {
  const running = tasks.filter(({ status }) => status === "running");
  const [first] = running;
  if (first === undefined) return [];
  const more = running.length === 1 ? "" : ` and ${running.length - 1} more`;
  const hint = span("  (/tasks)", { tone: "muted" });
  const task = [
    span("◐ ", { tone: "accent" }),
    span(`Background${more}: `, { tone: "muted" }),
    span(`${first.id} `, { tone: "muted" }),
    span(first.title),
  ];
  return [truncate([...truncate(task, width - lineWidth([hint])), hint], width)];
};
