import type { Clock } from "../../world/world.ts";
import type { RetryPolicy } from "../retry/policy.ts";

/** The phase of a response that can time out. */
export type TimeoutPhase = keyof typeof phaseNames;

/** The phases as named in failures. */
export const phaseNames = { headers: "headers", firstByte: "first-byte", idle: "idle", whole: "whole" } as const;

/** Thrown when a response times out. */
export class ResponseTimeoutError extends Error {
  readonly phase: TimeoutPhase;
  readonly ms: number;

  constructor(phase: TimeoutPhase, ms: number) {
    super(`Silent for ${ms} ms.`);
    this.phase = phase;
    this.ms = ms;
  }
}

/** Aborts an attempt when it times out or its caller aborts. */
export class TimeoutWatchdog {
  readonly #clock: Clock;
  readonly #policy: RetryPolicy;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = new AbortController();
  #phase: TimeoutPhase = "headers";
  #since: number;
  readonly #start: number;
  #isComplete = false;
  #stopWatching = (): void => {};

  constructor(clock: Clock, policy: RetryPolicy, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#policy = policy;
    this.#outer = outer;
    this.#start = clock.elapsed();
    this.#since = this.#start;
    outer?.throwIfAborted();
    outer?.addEventListener("abort", this.#giveUp, { once: true });
    this.#watch();
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Restarts the timeout: data was received. */
  progress(phase: TimeoutPhase): void {
    if (this.#isComplete) return;
    this.#phase = phase;
    this.#since = this.#clock.elapsed();
  }

  /** The response is complete: waits a moment for the end of the body, so that the connection can be reused. */
  startGracePeriod(): void {
    this.#isComplete = true;
    this.#since = this.#clock.elapsed();
    this.#stopWatching();
    this.#watch();
  }

  /** Ends the attempt; closes the connection unless the body was read to its end. */
  stop(isRead: boolean): void {
    this.#outer?.removeEventListener("abort", this.#giveUp);
    this.#stopWatching();
    if (!isRead) this.#abort.abort(new Error("The attempt is over."));
  }

  readonly #giveUp = (): void => this.#abort.abort(this.#outer?.reason);

  readonly #watch = (): void => {
    const timeout = this.#isComplete ? closeGracePeriod : this.#policy[this.#phase];
    const now = this.#clock.elapsed();
    const remaining = this.#since + timeout - now;
    const totalRemaining = this.#isComplete ? remaining : this.#start + this.#policy.whole - now;
    if (totalRemaining <= 0) this.#abort.abort(new ResponseTimeoutError("whole", this.#policy.whole));
    else if (remaining <= 0) this.#abort.abort(new ResponseTimeoutError(this.#phase, timeout));
    else this.#stopWatching = this.#clock.after(Math.min(remaining, totalRemaining), this.#watch);
  };
}

/** How long a server may take to close a finished response, in milliseconds. */
const closeGracePeriod = 2000;
