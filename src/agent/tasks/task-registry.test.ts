import { expect, it } from "vitest";
import type { NewTask, TaskInfo } from "../../tools/capabilities.ts";
import { ToolFailure, type ToolResult } from "../../tools/tool.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { TaskRegistry } from "./task-registry.ts";

const world = simulatedWorld({});
const open = (): { readonly tasks: TaskRegistry; readonly changes: TaskInfo[] } => {
  const changes: TaskInfo[] = [];
  const tasks = new TaskRegistry({ clock: world.clock, lastNumber: 0, onChange: (task) => changes.push(task) });
  return { tasks, changes };
};

const result = (text: string): ToolResult => ({ content: [{ type: "text", text }], display: { type: "text", text } });
const { signal } = new AbortController();
const command = (work: NewTask["work"], startsInBackground = true): NewTask => ({
  kind: "command",
  title: "make",
  startsInBackground,
  signal,
  report: () => undefined,
  work,
});

/** Work that ends when it is stopped. */
const untilStopped: NewTask["work"] = ({ signal: stop }) =>
  new Promise((resolve) => stop.addEventListener("abort", () => resolve(result("stopped"))));

it("a background command that ends in its first moments is an ordinary call", async () => {
  const { tasks, changes } = open();
  const failing = command(async () => {
    await world.clock.sleep(150);
    throw new ToolFailure("shell_execute_error", "No shell.");
  });
  await expect(world.run(tasks.run(failing))).rejects.toThrow("No shell.");
  const quick = command(async () => result("quick"));
  expect(await world.run(tasks.run(quick))).toEqual({ type: "ended", result: result("quick") });
  expect([tasks.list(), changes, tasks.takeNotices()]).toEqual([[], [], []]);
});

it("one that fails later leads to one notice, and only its first 200 ms hold up its call", async () => {
  const { tasks } = open();
  const before = world.clock.elapsed();
  const late = command(async ({ report }) => {
    report("begun\n");
    await world.clock.sleep(5000);
    throw new ToolFailure("shell_execute_error", "It broke.");
  });
  expect(await world.run(tasks.run(late))).toMatchObject({ type: "background", output: "begun", byUser: false });
  expect(world.clock.elapsed() - before).toBe(200);
  expect(tasks.takeNotices()).toEqual([]);
  await world.run(world.clock.sleep(5000));
  expect(tasks.takeNotices()).toEqual(["Background task ended: bg-1 (command, failed, 5 s): make.\nIt broke."]);
  expect(tasks.takeNotices()).toEqual([]);
});

it("a read waits no longer than it says, returns new output once, and its abort ends the wait", async () => {
  const { tasks } = open();
  const slow = command(async ({ report, signal: stop }) => {
    report("one\n");
    await world.clock.sleep(10_000);
    report("two\n");
    return untilStopped({ signal: stop, detached: stop, report });
  });
  await world.run(tasks.run(slow));
  const read = async (waitMs: number): Promise<unknown> => {
    const started = world.clock.elapsed();
    const { output } = (await world.run(tasks.read("bg-1", { waitMs, signal }))) ?? {};
    return [output, world.clock.elapsed() - started];
  };
  expect([await read(0), await read(3000), await read(20_000), await read(0)]).toEqual([
    ["", 0],
    ["", 3000],
    ["two", 20_000],
    ["", 0],
  ]);
  await expect(tasks.read("bg-1", { waitMs: 1000, signal: AbortSignal.abort() })).resolves.toMatchObject({
    output: "",
  });
  await world.run(tasks.close());
});

it("no more than 16 run at the same time, and ended ones make room", async () => {
  const { tasks } = open();
  for (let at = 0; at < 16; at++) await world.run(tasks.run(command(untilStopped)));
  await expect(tasks.run(command(untilStopped))).rejects.toThrow("16 tasks run in the background already.");
  expect(await world.run(tasks.stop("bg-3"))).toMatchObject({ id: "bg-3", status: "stopped" });
  expect(await world.run(tasks.run(command(untilStopped)))).toMatchObject({ info: { id: "bg-17" } });
  await world.run(tasks.close());
  expect(tasks.list().filter(({ status }) => status === "running")).toEqual([]);
});

it("work in the foreground is stopped by its call, and in the background it is not", async () => {
  const { tasks } = open();
  const stop = new AbortController();
  const running = tasks.run({ ...command(untilStopped, false), signal: stop.signal });
  stop.abort();
  expect(await world.run(running)).toEqual({ type: "ended", result: result("stopped") });
  const later = new AbortController();
  const moved = tasks.run({ ...command(untilStopped, false), signal: later.signal });
  expect(tasks.moveToBackground()).toBe(1);
  expect(await world.run(moved)).toMatchObject({ type: "background", byUser: true });
  later.abort();
  expect(tasks.list()).toMatchObject([{ id: "bg-1", status: "running" }]);
  await world.run(tasks.close());
});

it("a long output is cut in a notice, and says where the rest is", async () => {
  const { tasks } = open();
  const long = command(async () => {
    await world.clock.sleep(1000);
    return result("x".repeat(5000));
  });
  await world.run(tasks.run(long));
  await world.run(world.clock.sleep(1000));
  const [notice = ""] = tasks.takeNotices();
  expect([notice.length < 1300, notice.includes("background_tasks reads all of it (bg-1).")]).toEqual([true, true]);
  expect(tasks.peek("bg-1")?.length).toBe(5000);
});
