import type { Clock } from "./world.ts";

/** Resolves after `ms` on this clock; rejects with the signal's reason as soon as it is aborted. */
export const sleepWithClock = (clock: Pick<Clock, "after">, ms: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      wake();
      reject(signal?.reason);
    };
    const wake = clock.after(ms, () => {
      signal?.removeEventListener("abort", stop);
      resolve();
    });
    signal?.addEventListener("abort", stop, { once: true });
  });
