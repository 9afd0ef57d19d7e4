/** The time the scheduler goes by. The clock of a world fits. */
export type SchedulerClock = {
  /** Milliseconds that only ever grow. */
  readonly elapsed: () => number;
  /** Resolves after `ms`; rejects as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
};
