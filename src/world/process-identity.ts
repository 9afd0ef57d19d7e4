/** Which programs run. Process numbers are given again; a number and a start never are. */
export type ProcessIdentity = {
  /** This program, as a word of letters, digits and dashes that begins with its process number. */
  readonly current: () => Promise<string>;
  /** Whether the program that gave this word still runs, on this machine and since it was last started. */
  readonly isAlive: (who: string) => Promise<boolean>;
};
