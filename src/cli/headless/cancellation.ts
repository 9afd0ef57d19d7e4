import { cancelExitCodes, type CancelCause } from "./result.ts";

/** What ends a run from outside: signals, and a reader that leaves. */
export type CancellationWatch = {
  /** Aborted when the run is to end. */
  readonly signal: AbortSignal;
  /** From now on signals cancel the run; the listener is called before `signal` is aborted. */
  readonly onCancel: (listener: () => void) => void;
  /** The run is over: stops watching, and answers what ended it, if anything did. A reader that leaves from now on has seen a whole run. */
  readonly stop: () => CancelCause | undefined;
};

/**
 * Watches for the end. The first signal, or a reader that leaves (`| head`), cancels the run: calls end, the session is
 * closed, and only then the program exits. A second signal ends the program at once.
 */
export const watchCancellation = (): CancellationWatch => {
  const stopping = new AbortController();
  const listeners: (() => void)[] = [];
  let cause: CancelCause | undefined;
  let isDone = false;
  const end = (by: CancelCause): void => {
    if (isDone || cause !== undefined) return;
    cause = by;
    for (const listener of listeners) listener();
    stopping.abort();
  };
  const onSignal = (signal: CancelCause): void => {
    if (cause !== undefined) process.exit(cancelExitCodes[signal]);
    end(signal);
  };
  const onWriteError = (error: NodeJS.ErrnoException): void => {
    if (error.code === "EPIPE") return end("SIGPIPE");
    process.stderr.write(`parley: Cannot write the output: ${error.message}.\n`);
    end("output");
  };
  process.stdout.removeAllListeners("error").on("error", onWriteError);
  // Without a reader for what is said beside the output, the run goes on.
  process.stderr.removeAllListeners("error").on("error", () => undefined);
  return {
    signal: stopping.signal,
    onCancel: (listener) => {
      listeners.push(listener);
      for (const signal of signals) process.on(signal, onSignal);
    },
    stop: () => {
      isDone = true;
      for (const signal of signals) process.off(signal, onSignal);
      return cause;
    },
  };
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
