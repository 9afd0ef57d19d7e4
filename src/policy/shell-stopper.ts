import type { Running } from "../world/processes.ts";
import type { Clock } from "../world/world.ts";

/** How long a command may take to end by itself once it is told to, in milliseconds. */
const grace = 200;

/** Rounds of looking whether all of a group is gone. */
const mostRounds = 50;

export type StopReason = "timeout" | "cancelled";

/** Ends a command with everything it started: first politely, a moment later for good. */
export class Stopper {
  readonly #clock: Clock;
  readonly #running: Running;
  readonly #plans: (() => void)[] = [];
  #reason: StopReason | undefined;

  constructor(clock: Clock, running: Running) {
    this.#clock = clock;
    this.#running = running;
  }

  /** Why it was stopped; undefined where it was not. */
  get reason(): StopReason | undefined {
    return this.#reason;
  }

  now(reason: StopReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#running.signal("SIGTERM");
    this.#later(grace, () => this.#running.signal("SIGKILL"));
  }

  after(ms: number): void {
    this.#later(ms, () => this.now("timeout"));
  }

  /** Kills what is left of a command that was stopped; answers the processes that did not end even so. */
  async finish(): Promise<readonly number[]> {
    for (let round = 0; round < mostRounds; round++) {
      if ((await this.#running.group()).length === 0) return [];
      this.#running.signal("SIGKILL");
      await this.#clock.sleep(10);
    }
    return this.#running.group();
  }

  /** The command has ended; there is nobody to signal any more. */
  done(): void {
    for (const forget of this.#plans) forget();
  }

  #later(ms: number, work: () => void): void {
    this.#plans.push(this.#clock.after(ms, work));
  }
}
