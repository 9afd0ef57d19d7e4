import type { Failure } from "../../transport/failure.ts";
import type { Clock } from "../../world/world.ts";

/** Targets that failed are passed over for a while. */
export class TargetCooldowns {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #until = new Map<string, number>();

  constructor(clock: Pick<Clock, "elapsed">) {
    this.#clock = clock;
  }

  /** Orders targets: those without a recent failure first. The order is otherwise kept, so a conversation stays at its target. */
  order(targets: readonly string[]): readonly string[] {
    if (this.#until.size === 0 || targets.length < 2) return targets;
    const isResting = (target: string): boolean => (this.#until.get(target) ?? 0) > this.#clock.elapsed();
    return [...targets.filter((target) => !isResting(target)), ...targets.filter(isResting)];
  }

  recordFailure(target: string, failure: Failure, cooldown: number): void {
    const wait = failure.kind === "rate-limited" || failure.kind === "quota-gone" ? (failure.retryAfter ?? 0) : 0;
    this.#until.set(target, this.#clock.elapsed() + Math.max(wait, cooldown));
  }

  recordSuccess(target: string): void {
    this.#until.delete(target);
  }
}

/** Whether another target may answer after this failure. A request that was found invalid would be invalid there too. */
export const canFailOver = (failure: Failure): boolean => {
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
    // Another model may have a larger context window.
    case "context-too-long":
      return true;
    case "filtered":
    case "cancelled":
      return false;
  }
};
