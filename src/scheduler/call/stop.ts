import { ToolFailure } from "../../tools/tool.ts";
import type { SchedulerClock } from "../clock.ts";

/** A call was stopped from outside. */
export class CallStoppedError extends Error {
  /** Whether the user stopped it, or the program that runs the session. */
  readonly isByUser: boolean;

  constructor(byPerson: boolean) {
    super(byPerson ? "The user cancelled this call" : "This call was cancelled");
    this.isByUser = byPerson;
  }
}

/** A call was set aside before it began: it stays without a result, and can be scheduled again. */
export class CallParkedError extends Error {}

/** Waits for work until the signal is aborted; then rejects with the signal's reason. */
export const untilAborted = <Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });

/** Waits for work at most this many milliseconds; then rejects with a timeout failure. */
export const withTimeout = <Result>(clock: SchedulerClock, limit: number, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const done = clock.after(limit, () =>
      reject(new ToolFailure("timeout", `Stopped after ${Math.round(limit / 1000)} seconds.`)),
    );
    work.then(resolve, reject).finally(done);
  });
