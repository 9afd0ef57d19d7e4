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
  readonly #patience: RetryPolicy;
  readonly #outer: AbortSignal | undefined;
  readonly #abort = new AbortController();
  #phase: TimeoutPhase = "headers";
  #since: number;
  readonly #start: number;
  #isLeaving = false;
  #stopWatching = (): void => {};

  constructor(clock: Clock, patience: RetryPolicy, outer: AbortSignal | undefined) {
    this.#clock = clock;
    this.#patience = patience;
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
    if (this.#isLeaving) return;
    this.#phase = phase;
    this.#since = this.#clock.elapsed();
  }

  /** The response is complete: waits a moment for the end of the body, so that the connection can be reused. */
  startGracePeriod(): void {
    this.#isLeaving = true;
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
    const allowed = this.#isLeaving ? closeGracePeriod : this.#patience[this.#phase];
    const now = this.#clock.elapsed();
    const left = this.#since + allowed - now;
    const leftInAll = this.#isLeaving ? left : this.#start + this.#patience.whole - now;
    if (leftInAll <= 0) this.#abort.abort(new ResponseTimeoutError("whole", this.#patience.whole));
    else if (left <= 0) this.#abort.abort(new ResponseTimeoutError(this.#phase, allowed));
    else this.#stopWatching = this.#clock.after(Math.min(left, leftInAll), this.#watch);
  };
}

/** How long a server may take to close a finished response, in milliseconds. */
const closeGracePeriod = 2000;
