import type { RunningProcess } from "../../world/processes.ts";
import type { Clock } from "../../world/world.ts";

/** How long a command may take to end by itself once it is told to, in milliseconds. */
const gracePeriodMs = 200;

/** Rounds of looking whether all of a group is gone. */
const maxRounds = 50;

export type StopReason = "timeout" | "cancelled";

/** Ends a command with everything it started: first politely, a moment later for good. */
export class ProcessStopper {
  readonly #clock: Clock;
  readonly #running: RunningProcess;
  readonly #plans: (() => void)[] = [];
  #reason: StopReason | undefined;

  constructor(clock: Clock, running: RunningProcess) {
    this.#clock = clock;
    this.#running = running;
  }

  /** Why it was stopped; undefined where it was not. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  stop(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#running.signal("SIGTERM");
    this.#later(gracePeriodMs, () => this.#running.signal("SIGKILL"));
  }

  stopAfter(ms: number): void {
    this.#later(ms, () => this.stop("timeout"));
  }

  /** Kills what is left of a command that was stopped; answers the processes that did not end even so. */
  async killRemaining(): Promise<readonly number[]> {
    for (let round = 0; round < maxRounds; round++) {
      if ((await this.#running.groupMembers()).length === 0) return [];
      this.#running.signal("SIGKILL");
      await this.#clock.sleep(10);
    }
    return this.#running.groupMembers();
  }

  /** The command has ended; there is nobody to signal any more. */
  dispose(): void {
    for (const forget of this.#plans) forget();
  }

  #later(ms: number, work: () => void): void {
    this.#plans.push(this.#clock.after(ms, work));
  }
}
