import { describeTask } from "../../tools/session/background-tasks.ts";
import type { BackgroundTasks, NewTask, TaskInfo, TaskOutcome, TaskReport } from "../../tools/capabilities.ts";
import { ToolFailure, type ToolResult } from "../../tools/tool.ts";
import type { Clock } from "../../world/world.ts";
import { OutputTail } from "./output-tail.ts";

/** The most tasks that run in the background at the same time. */
const maxRunning = 16;

/** The most ended tasks that are remembered. */
const maxEnded = 50;

/** Milliseconds a background command gets to fail: an error in its first moments is the result of its call. */
const startGraceMs = 200;

/** The characters of output or answer that a notice holds. */
const maxNoticeText = { command: 1000, agent: 8000 } as const;

/** Milliseconds after which work counts as slow. */
const slowTaskMs = 2000;

/** The characters of a title. */
const maxTitle = 200;

/** Options of a registry. */
export type TaskRegistryOptions = {
  readonly clock: Pick<Clock, "elapsed" | "after">;
  /** Ids are counted from the number after this one, so that a resumed session uses none twice. */
  readonly lastNumber: number;
  /** Called when a task moves to the background, and when it ends. */
  readonly onChange: (task: TaskInfo) => void;
};

/** The commands and subagents of a session: those in the background, and those that can be moved there. */
export class TaskRegistry implements BackgroundTasks {
  readonly #options: TaskRegistryOptions;
  /** Work whose call waits for it. */
  readonly #foreground = new Set<RunningTask>();
  #background: readonly RunningTask[] = [];
  #number: number;
  #isClosed = false;

  constructor(options: TaskRegistryOptions) {
    this.#options = options;
    this.#number = options.lastNumber;
  }

  readonly run = async (newTask: NewTask): Promise<TaskOutcome> => {
    const { clock } = this.#options;
    const { kind, startsInBackground, signal, work } = newTask;
    if (startsInBackground) this.#assertRoom();
    const task = new RunningTask(newTask, clock);
    const stop = (): void => task.stop.abort(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    this.#foreground.add(task);
    const ended = settle(() => work(task.context));
    const cancelGrace = startsInBackground
      ? clock.after(kind === "command" ? startGraceMs : 0, () => task.detach(false))
      : undefined;
    try {
      const end = await Promise.race([ended, task.detached]);
      if (end !== undefined) {
        if ("error" in end) throw end.error;
        return { type: "ended", result: end.result };
      }
    } finally {
      cancelGrace?.();
      signal.removeEventListener("abort", stop);
      this.#foreground.delete(task);
    }
    return this.#moveToBackground(task, ended);
  };

  readonly list = (): readonly TaskInfo[] => this.#background.map((task) => task.info());

  readonly read: BackgroundTasks["read"] = async (id, { waitMs, signal }): Promise<TaskReport | undefined> => {
    const task = this.#find(id);
    if (task === undefined) return undefined;
    if (task.status === "running" && waitMs > 0) await this.#wait(task, waitMs, signal);
    const { result } = task;
    if (result !== undefined) task.isReported = true;
    const output = task.output.takeNew();
    return { info: task.info(), output, ...(result === undefined ? {} : { result }) };
  };

  /** `isReported` is false if the model does not learn of it from the caller. */
  readonly stop = async (
    id: string,
    { isReported }: { readonly isReported: boolean } = { isReported: true },
  ): Promise<TaskInfo | undefined> => {
    const task = this.#find(id);
    if (task === undefined) return undefined;
    task.isReported ||= isReported;
    task.stop.abort(new Error("The task was stopped."));
    await task.ended;
    return task.info();
  };

  /** The last output of a task, or its result; for display. */
  peek(id: string): string | undefined {
    const task = this.#find(id);
    if (task === undefined) return undefined;
    return task.result === undefined ? task.output.text : resultText(task.result);
  }

  /** Whether work that calls wait for has run so long that the user may want to move it to the background. */
  get canMoveToBackground(): boolean {
    return [...this.#foreground].some((task) => task.info().elapsedMs >= slowTaskMs);
  }

  /** Moves all work that calls wait for to the background, on behalf of the user. Returns how much there was. */
  moveToBackground(): number {
    const tasks = [...this.#foreground];
    for (const task of tasks) task.detach(true);
    return tasks.length;
  }

  /** Returns notices for the model about tasks that ended since, each once. */
  takeNotices(): readonly string[] {
    const ended = this.#background.filter(({ status, isReported }) => status !== "running" && !isReported);
    for (const task of ended) task.isReported = true;
    return ended.map((task) => this.#noticeFor(task));
  }

  /** Stops everything and waits for it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const running = this.#background.filter(({ status }) => status === "running");
    for (const task of running) task.stop.abort(new Error("Parley quit."));
    await Promise.all(running.map(({ ended }) => ended));
  }

  #moveToBackground(task: RunningTask, end: Promise<SettledWork>): TaskOutcome {
    this.#number += 1;
    task.id = `bg-${this.#number}`;
    const ended = this.#background.filter(({ status }) => status !== "running");
    const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - maxEnded)));
    this.#background = [...this.#background.filter((each) => !forgotten.has(each)), task];
    task.ended = end.then((settled) => this.#finish(task, settled));
    const info = task.info();
    this.#options.onChange(info);
    return { type: "background", info, output: task.output.takeNew(), byUser: task.isMovedByUser };
  }

  #finish(task: RunningTask, end: SettledWork): void {
    task.finish(end);
    this.#options.onChange(task.info());
  }

  #noticeFor(task: RunningTask): string {
    const { newTask, result, id } = task;
    const text = result === undefined ? "" : resultText(result).trim();
    const most = maxNoticeText[newTask.kind];
    const shown = text.length <= most ? text : `[…]\n${text.slice(-most).toWellFormed()}`;
    const more = text.length <= most ? "" : ` background_tasks reads all of it (${id}).`;
    return [
      `Background task ended: ${describeTask(task.info())}.${this.#isClosed ? " It was stopped when Parley quit." : more}`,
      ...(shown === "" ? [] : [shown]),
    ].join("\n");
  }

  async #wait({ ended }: RunningTask, waitMs: number, signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancelTimer = this.#options.clock.after(waitMs, resolve);
      signal.addEventListener("abort", () => resolve(), { once: true });
      if (signal.aborted) resolve();
      void ended.then(resolve).finally(cancelTimer);
    });
  }

  #find(id: string): RunningTask | undefined {
    return this.#background.find((task) => task.id === id);
  }

  #assertRoom(): void {
    if (this.#background.filter(({ status }) => status === "running").length < maxRunning) return;
    throw new ToolFailure(
      "execution_failed",
      `${maxRunning} tasks run in the background already. Stop one with background_tasks first.`,
    );
  }
}

type SettledWork = { readonly result: ToolResult } | { readonly error: unknown };

/** Work that throws before it returns a promise ends like any other. */
const settle = async (work: () => Promise<ToolResult>): Promise<SettledWork> => {
  try {
    return { result: await work() };
  } catch (error) {
    return { error };
  }
};

/** One piece of work, in the foreground or in the background. */
class RunningTask {
  readonly newTask: NewTask;
  readonly stop = new AbortController();
  readonly output = new OutputTail();
  /** Resolves when it moves to the background. */
  readonly detached: Promise<undefined>;
  readonly context: Parameters<NewTask["work"]>[0];
  readonly #detach = new AbortController();
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #startedAt: number;
  id = "";
  ended: Promise<void> = Promise.resolve();
  status: TaskInfo["status"] = "running";
  result: ToolResult | undefined;
  isMovedByUser = false;
  /** Whether the model knows of its end, and needs no notice. */
  isReported = false;
  #endedAt: number | undefined;
  #detail: string | undefined;

  constructor(newTask: NewTask, clock: Pick<Clock, "elapsed">) {
    this.newTask = newTask;
    this.#clock = clock;
    this.#startedAt = clock.elapsed();
    const { signal: detached } = this.#detach;
    this.detached = new Promise((resolve) =>
      detached.addEventListener("abort", () => resolve(undefined), { once: true }),
    );
    const report = (text: string): void => {
      this.output.add(text);
      if (!detached.aborted) newTask.report(text);
    };
    this.context = { signal: this.stop.signal, detached, report };
  }

  detach(byUser: boolean): void {
    this.isMovedByUser = byUser;
    this.#detach.abort();
  }

  finish(end: SettledWork): void {
    this.#endedAt = this.#clock.elapsed();
    if ("result" in end) this.result = end.result;
    else this.result = failureResult(end.error);
    const isFailed = this.result.error !== undefined || "error" in end;
    this.status = this.stop.signal.aborted ? "stopped" : isFailed ? "failed" : "done";
    const text = this.status === "done" ? resultText(this.result) : "";
    // The output before it may contain such a line too.
    const code = this.newTask.kind === "command" ? [...text.matchAll(/^Exit Code: (\d+)$/gm)].at(-1)?.[1] : undefined;
    this.#detail = code === undefined ? undefined : code === "0" ? "done" : `exit code ${code}`;
  }

  info(): TaskInfo {
    const { kind, title } = this.newTask;
    return {
      id: this.id,
      kind,
      title: title.replaceAll(/\s+/g, " ").slice(0, maxTitle).toWellFormed(),
      status: this.status,
      elapsedMs: (this.#endedAt ?? this.#clock.elapsed()) - this.#startedAt,
      ...(this.#detail === undefined ? {} : { detail: this.#detail }),
    };
  }
}

const failureResult = (error: unknown): ToolResult => {
  const message = error instanceof Error ? error.message : String(error);
  const type = error instanceof ToolFailure ? error.type : "execution_failed";
  return {
    content: [{ type: "text", text: message }],
    display: { type: "text", text: message },
    error: { type, message },
  };
};

const resultText = ({ content }: ToolResult): string =>
  content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
