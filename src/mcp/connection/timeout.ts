import type { Clock } from "../../world/world.ts";

/** The time limit was reached. */
export class McpTimeoutError extends Error {}

export type TimeLimit = { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal };

/**
 * Runs work with a time limit: on timeout, or when the signal is aborted, the work's own signal is aborted and the
 * promise rejects. Each `touch` restarts the timer.
 */
export const withTimeout = async <Result>(
  { clock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal, touch: () => void) => Promise<Result>,
): Promise<Result> => {
  signal.throwIfAborted();
  const stop = new AbortController();
  const over = new AbortController();
  let last = clock.elapsed();
  const rejectLate = async (): Promise<never> => {
    for (let left = ms; left > 0; left = last + ms - clock.elapsed()) await clock.sleep(left, over.signal);
    throw new McpTimeoutError(`no response for ${ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`}.`);
  };
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: over.signal });
  });
  // Before the work begins: of two nested limits of the same length the outer one ends first.
  const waiting = rejectLate();
  waiting.catch(() => undefined);
  const working = work(stop.signal, () => void (last = clock.elapsed()));
  working.catch(() => undefined);
  try {
    return await Promise.race([working, waiting, aborted]);
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    over.abort();
  }
};
