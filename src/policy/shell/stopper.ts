import type { RunningProcess } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";

/** How long a command may take to end after SIGTERM before it gets SIGKILL. */
const gracePeriodMs = 200;

/** How often the process group is checked after SIGKILL. */
const maxRounds = 50;

export type StopReason = "timeout" | "cancelled";

/** Stops a command and its process group: SIGTERM first, SIGKILL after a grace period. */
export class ProcessStopper {
  readonly #clock: Clock;
  readonly #running: RunningProcess;
  readonly #cancelTimers: (() => void)[] = [];
  #cancelTimeout: (() => void) | undefined;
  #reason: StopReason | undefined;

  constructor(clock: Clock, running: RunningProcess) {
    this.#clock = clock;
    this.#running = running;
  }

  /** Why it was stopped; undefined if it was not. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#running.signal("SIGTERM");
    this.#schedule(gracePeriodMs, () => this.#running.signal("SIGKILL"));
  }

  stopAfter(ms: number): void {
    this.#cancelTimeout = this.#clock.after(ms, () => this.stop("timeout"));
  }

  /** Removes the time limit. */
  cancelTimeout(): void {
    this.#cancelTimeout?.();
  }

  /** Kills the remaining processes of a stopped command; returns those that did not end. */
  async killRemaining(): Promise<readonly number[]> {
    for (let round = 0; round < maxRounds; round++) {
      if ((await this.#running.groupMembers()).length === 0) return [];
      this.#running.signal("SIGKILL");
      await this.#clock.sleep(10);
    }
    return this.#running.groupMembers();
  }

  /** Cancels all timers, once the command has ended. */
  dispose(): void {
    this.cancelTimeout();
    for (const forget of this.#cancelTimers) forget();
  }

  #schedule(ms: number, work: () => void): void {
    this.#cancelTimers.push(this.#clock.after(ms, work));
  }
}
