import type { TaskInfo } from "../../tools/capabilities.ts";
import { line, lineWidth, span, truncate } from "../text/line.ts";
import type { StyledLine } from "../text/style.ts";

/** Columns a task has at least where several are named. */
const minColumns = 20;

/** Shows the running background tasks in one line: as many names as fit. Nothing if there is none. */
export const viewTaskRow = (tasks: readonly TaskInfo[], width: number): readonly StyledLine[] => {
  const running = tasks.filter(({ status }) => status === "running");
  if (running.length === 0) return [];
  const count = running.length === 1 ? "" : ` (${running.length})`;
  const head = [span("◐ ", { tone: "accent" }), span(`Background${count}: `, { tone: "muted" })];
  const hint = span("  (/tasks)", { tone: "muted" });
  const room = width - lineWidth([...head, hint]);
  const named = running.slice(0, Math.max(1, Math.floor(room / minColumns)));
  const columns = Math.floor(room / named.length);
  const names = named.flatMap(({ id, title }, at) => [
    ...(at === 0 ? [] : line("  ")),
    ...truncate([span(`${id} `, { tone: "muted" }), span(title)], columns - (at === 0 ? 0 : 2)),
  ]);
  return [truncate([...head, ...names, hint], width)];
};
