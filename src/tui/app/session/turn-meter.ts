import type { AgentEvent } from "../../../agent/events.ts";
import type { CallId } from "../../../conversation/parts.ts";
import type { Clock } from "../../../world/world.ts";
import { formatDuration } from "../../views/spinner.ts";
import { questionTools } from "../../views/tool-call.ts";

/** Milliseconds of work from which a turn is summed up. */
const minWork = 5000;

/** Options of a turn meter. */
export type TurnMeterOptions = {
  readonly clock: Pick<Clock, "elapsed">;
  /** Dollars spent since the session was opened. */
  readonly cost: () => number;
  /** Whether a question of a call waits. */
  readonly isAsking: () => boolean;
};

/** Measures a turn: the time without the user's, the requests of the model, and the money. */
export class TurnMeter {
  readonly #options: TurnMeterOptions;
  readonly #costBefore: number;
  /** Calls that ask the user something themselves. */
  readonly #askingCalls = new Set<CallId>();
  #steps = 0;
  #work = 0;
  #since: number;
  #isWaiting = false;

  constructor(options: TurnMeterOptions) {
    this.#options = options;
    this.#costBefore = options.cost();
    this.#since = options.clock.elapsed();
  }

  handleEvent(event: AgentEvent): void {
    if (event.type === "usage") this.#steps += 1;
    if (event.type === "call-requested" && questionTools.has(event.call.tool)) this.#askingCalls.add(event.call.id);
    if (event.type === "call-completed") this.#askingCalls.delete(event.finished.call.id);
    this.#count();
  }

  /** The turn in a line; undefined for a short one. */
  end(): string | undefined {
    this.#count();
    if (this.#work < minWork) return undefined;
    const cost = this.#options.cost() - this.#costBefore;
    return [
      formatDuration(this.#work),
      `${this.#steps} ${this.#steps === 1 ? "step" : "steps"}`,
      ...(cost < 0.0005 ? [] : [`$${cost.toFixed(cost < 0.01 ? 3 : 2)}`]),
    ].join(" · ");
  }

  /** Adds the time since the last event, unless it was the user's. */
  #count(): void {
    const now = this.#options.clock.elapsed();
    if (!this.#isWaiting) this.#work += now - this.#since;
    this.#since = now;
    this.#isWaiting = this.#askingCalls.size > 0 || this.#options.isAsking();
  }
}
