/** Identifies running processes. A process id is reused after the process ends; process id plus start time is not. */
export type ProcessIdentity = {
  /** The identity of this process: letters, digits and dashes, beginning with the process id. */
  readonly current: () => Promise<string>;
  /** Whether the process with this identity still runs, on this machine and since its last boot. */
  readonly isAlive: (who: string) => Promise<boolean>;
  /** Whether a process with this id runs now that belongs to the same user. */
  readonly isOwnProcess: (pid: number) => boolean;
};
