import type { Clock } from "../../../world/world.ts";
import type { StyledLine } from "../../text/style.ts";
import type { WorkProgress } from "../front-ends/front-end.ts";
import type { CommandWorkView } from "./slash-command.ts";

/** Running work of a slash command. */
type RunningWork = WorkProgress & {
  readonly live?: (() => readonly StyledLine[]) | undefined;
  readonly stop: AbortController;
  readonly since: number;
  share?: number;
};

/** The work of slash commands that takes a while. */
export class CommandWork {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #onChange: () => void;
  readonly #running = new Set<RunningWork>();

  constructor(clock: Pick<Clock, "elapsed">, onChange: () => void) {
    this.#clock = clock;
    this.#onChange = onChange;
  }

  /** The work that runs for the longest time. */
  get oldest(): (WorkProgress & { readonly since: number }) | undefined {
    return [...this.#running].at(0);
  }

  /** The lines of all running work. */
  live(): readonly StyledLine[] {
    return [...this.#running].flatMap(({ live }) => live?.() ?? []);
  }

  cancel(): void {
    for (const { stop } of this.#running) stop.abort();
  }

  /** Runs work, with its lines and a spinner, until it ends or the user cancels it. */
  async run<Result>(
    { label, live }: CommandWorkView,
    work: (signal: AbortSignal, report: (done: number, total: number) => void) => Promise<Result>,
  ): Promise<Result> {
    const stop = new AbortController();
    const running: RunningWork = { label, live, stop, since: this.#clock.elapsed() };
    this.#running.add(running);
    this.#onChange();
    try {
      return await work(stop.signal, (done, total) => {
        if (total > 0) running.share = done / total;
        this.#onChange();
      });
    } catch (error) {
      throw stop.signal.aborted ? new Error("Cancelled.", { cause: error }) : error;
    } finally {
      this.#running.delete(running);
      this.#onChange();
    }
  }
}
