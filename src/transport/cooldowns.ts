import type { Clock } from "../world/world.ts";
import type { Failure } from "./failure.ts";

/** Names that failed, such as models of a pool, are passed over for a while. */
export class Cooldowns {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  isCoolingDown(name: string): boolean {
    return (this.#until.get(name) ?? Number.NEGATIVE_INFINITY) > this.#clock.elapsed();
  }

  /** Starts a cooldown of this many milliseconds, or longer if the server said so. */
  start(name: string, failure: Failure, milliseconds: number): void {
    const wait = failure.kind === "rate-limited" || failure.kind === "quota-gone" ? (failure.retryAfter ?? 0) : 0;
    this.#until.set(name, this.#clock.elapsed() + Math.max(wait, milliseconds));
  }

  end(name: string): void {
    this.#until.delete(name);
  }
}

/** Whether another provider may answer. A request that was found invalid would be invalid there too. */
export const canAnotherModelHelp = (failure: Failure): boolean => {
  switch (failure.kind) {
    case "no-key":
    case "misconfigured":
    case "bad-key":
    case "no-credit":
    case "quota-gone":
    case "overloaded":
    case "rate-limited":
    case "network":
    case "time-out":
    case "stream-cut":
    case "malformed-stream":
      return true;
    case "refused":
      return failure.status === 403 || failure.status === 404 || failure.status >= 500;
    case "context-too-long":
    case "filtered":
    case "cancelled":
      return false;
  }
};
