import type { Clock } from "../../world/world.ts";

/** Thrown to whoever waited too long. */
export class McpTimeoutError extends Error {}

export type TimeLimit = { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal };

/**
 * Work that may take so long and no longer: then, or when the signal is aborted, it is told to stop, and whoever waits
 * for it waits no more. Each `touch` gives it the whole time again.
 */
export const withTimeout = async <Result>(
  { clock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal, touch: () => void) => Promise<Result>,
): Promise<Result> => {
  signal.throwIfAborted();
  const stop = new AbortController();
  const over = new AbortController();
  let last = clock.elapsed();
  const late = async (): Promise<never> => {
    for (let left = ms; left > 0; left = last + ms - clock.elapsed()) await clock.sleep(left, over.signal);
    throw new McpTimeoutError(`nothing came for ${ms < 1000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`}.`);
  };
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: over.signal });
  });
  const working = work(stop.signal, () => void (last = clock.elapsed()));
  working.catch(() => undefined);
  const waiting = late();
  waiting.catch(() => undefined);
  try {
    return await Promise.race([working, waiting, aborted]);
  } catch (error) {
    stop.abort(error);
    throw error;
  } finally {
    over.abort();
  }
};
