/** The time the scheduler goes by. The clock of a world fits. */
export type SchedulerClock = {
  /** Milliseconds that only ever grow. */
  readonly elapsed: () => number;
  /** Does something after `ms`; answers how to leave it undone. */
  readonly after: (ms: number, work: () => void) => () => void;
};
