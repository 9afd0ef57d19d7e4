import type { TaskRegistry } from "../../../../agent/tasks/task-registry.ts";
import type { TaskInfo } from "../../../../tools/capabilities.ts";
import { line, span, toLines, truncate } from "../../../text/line.ts";
import { wrap } from "../../../text/wrap.ts";
import { formatDuration } from "../../../views/spinner.ts";
import type { PickerOption } from "../../../views/picker.ts";
import type { SlashCommandContext } from "../slash-command.ts";

/** The most lines of output that are shown: its end. */
const maxLines = 40;

/** The background tasks as options, the newest first. */
export const taskOptions = ({ opened }: SlashCommandContext): readonly PickerOption[] =>
  (opened().tasks()?.list() ?? []).toReversed().map((task) => ({
    id: task.id,
    label: task.id,
    // The title comes last: it can be too long for the line.
    detail: `${task.detail ?? task.status}, ${formatDuration(task.elapsedMs)}  ${task.title}`,
  }));

/** `/tasks`: lists background tasks, shows the output of one, or stops it. */
export const manageTasks = async (args: string, at: SlashCommandContext): Promise<void> => {
  const tasks = at.opened().tasks();
  const canMove = tasks?.canMoveToBackground === true;
  const options = taskOptions(at);
  if (tasks === undefined || (options.length === 0 && !canMove))
    return at.info("No background tasks. Ctrl-B moves a running command or subagent to the background.");
  const [word = "", id = ""] = args.split(/\s+/);
  if (word === "stop") return stopTask(id, tasks, at);
  if (word !== "") return showTask(word, tasks, at);
  const move = { id: moveId, label: "Move what runs now to the background" };
  const picked = await at.pick("Background tasks", [...(canMove ? [move] : []), ...options]);
  if (picked?.id === moveId) tasks.moveToBackground();
  else if (picked !== undefined) await manageTask(picked.id, tasks, at);
};

const moveId = "move";

/** Asks what to do with a running task; an ended one is shown. */
const manageTask = async (id: string, tasks: TaskRegistry, at: SlashCommandContext): Promise<void> => {
  const task = findTask(id, tasks);
  if (task?.status !== "running") return showTask(id, tasks, at);
  const picked = await at.pick(`${id} ${task.title}`, [
    { id: "show", label: "Show its output" },
    { id: "stop", label: "Stop it" },
  ]);
  if (picked?.id === "show") await showTask(id, tasks, at);
  if (picked?.id === "stop") await stopTask(id, tasks, at);
};

const showTask = async (id: string, tasks: TaskRegistry, at: SlashCommandContext): Promise<void> => {
  const task = findTask(id, tasks);
  if (task === undefined) return at.info(unknownTask(id, tasks));
  const { redactor } = await at.opened().services();
  const lines = redactor
    .redact(tasks.peek(id) ?? "")
    .trimEnd()
    .split("\n");
  const hidden = Math.max(0, lines.length - maxLines);
  at.print([
    truncate(
      [
        span(`${task.id}  ${task.detail ?? task.status}, ${formatDuration(task.elapsedMs)}  `, { tone: "muted" }),
        span(task.title, { bold: true }),
      ],
      at.width(),
    ),
    ...(hidden === 0 ? [] : [line(`  … ${hidden} earlier ${hidden === 1 ? "line" : "lines"}`, { tone: "muted" })]),
    ...toLines(lines.slice(-maxLines).join("\n") || "(no output)", { tone: "muted" }).flatMap((each) =>
      wrap(each, { width: at.width(), breakAt: "characters", first: [span("  ")], rest: [span("  ")] }),
    ),
    [],
  ]);
};

const stopTask = async (id: string, tasks: TaskRegistry, at: SlashCommandContext): Promise<void> => {
  const task = findTask(id, tasks);
  if (task === undefined) return at.info(unknownTask(id, tasks));
  if (task.status !== "running") return at.info(`${id} has ended already.`);
  await tasks.stop(id, { isReported: false });
};

const findTask = (id: string, tasks: TaskRegistry): TaskInfo | undefined => tasks.list().find((each) => each.id === id);

const unknownTask = (id: string, tasks: TaskRegistry): string =>
  `Unknown task "${id}". Available: ${tasks
    .list()
    .map((each) => each.id)
    .join(", ")}`;
