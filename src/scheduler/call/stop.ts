import { ToolFailure } from "../../tools/tool.ts";
import type { SchedulerClock } from "../clock.ts";

/** Why a call was stopped from outside. */
export class CallStoppedError extends Error {
  /** Whether the person said so, or whoever runs the session. */
  readonly isByUser: boolean;

  constructor(byPerson: boolean) {
    super(byPerson ? "The user cancelled this call" : "This call was cancelled");
    this.isByUser = byPerson;
  }
}

/** The same work, given up as soon as the signal is aborted; it then rejects with the signal's reason. */
export const untilAborted = <Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });

/** The same work, given up after so many milliseconds. */
export const withTimeout = <Result>(clock: SchedulerClock, most: number, work: Promise<Result>): Promise<Result> =>
  new Promise((resolve, reject) => {
    const done = clock.after(most, () =>
      reject(new ToolFailure("timeout", `Stopped after ${Math.round(most / 1000)} seconds.`)),
    );
    work.then(resolve, reject).finally(done);
  });
