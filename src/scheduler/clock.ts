/** The clock of the scheduler; the clock of a world is one. */
export type SchedulerClock = {
  /** Monotonic milliseconds. */
  readonly elapsed: () => number;
  /** Runs `work` after `ms`; returns a function that cancels it. */
  readonly after: (ms: number, work: () => void) => () => void;
};
