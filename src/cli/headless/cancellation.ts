import { cancelExitCodes, type CancelCause } from "./result.ts";

/** Watches for signals and a closed output, which cancel a run. */
export type CancellationWatch = {
  /** Aborted when the run is cancelled. */
  readonly signal: AbortSignal;
  /** Makes signals cancel the run from now on. The listener is called before `signal` is aborted. */
  readonly onCancel: (listener: () => void) => void;
  /** Stops watching and returns the cause of the cancellation, if any. An output closed after this is no cancellation. */
  readonly stop: () => CancelCause | undefined;
};

/**
 * Starts watching. The first signal, or a closed output (`| head`), cancels the run: tool calls are cancelled, the
 * session is closed, and only then the program exits. A second signal exits at once.
 */
export const watchCancellation = (): CancellationWatch => {
  const controller = new AbortController();
  const listeners: (() => void)[] = [];
  let cause: CancelCause | undefined;
  let isStopped = false;
  const cancel = (newCause: CancelCause): void => {
    if (isStopped || cause !== undefined) return;
    cause = newCause;
    for (const listener of listeners) listener();
    controller.abort();
  };
  const onSignal = (signal: CancelCause): void => {
    if (cause !== undefined) process.exit(cancelExitCodes[signal]);
    cancel(signal);
  };
  const onWriteError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") return cancel("SIGPIPE");
    process.stderr.write(`parley: Cannot write the output: ${error.message}.\n`);
    cancel("output");
  };
  process.stdout.removeAllListeners("error").on("error", onWriteError);
  // A closed stderr does not cancel the run.
  process.stderr.removeAllListeners("error").on("error", () => undefined);
  return {
    signal: controller.signal,
    onCancel: (listener) => {
      listeners.push(listener);
      for (const signal of signals) process.on(signal, onSignal);
    },
    stop: () => {
      isStopped = true;
      for (const signal of signals) process.off(signal, onSignal);
      return cause;
    },
  };
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
