/** A file that changed while a command ran: the stored contents before and after it, or why it cannot be restored. */
export type CommandChange = {
  /** Relative to the project's folder. */
  readonly path: string;
  /** Absent if the file did not exist. The name of the content of an executable file ends in `+x`. */
  readonly before?: string;
  /** Absent if it no longer exists. */
  readonly after?: string;
  readonly problem?: string;
};

/** Stores the files of a folder before and after commands. */
export type CommandSnapshots = {
  /** Stores the files that changed, and returns the changes since the last call. It never fails: see `problem`. */
  readonly capture: () => Promise<readonly CommandChange[]>;
  /** Reads stored contents; undefined if they are gone. */
  readonly read: (blob: string) => Promise<Uint8Array | undefined>;
  /** Why nothing is stored; undefined if it is. */
  readonly problem: () => string | undefined;
};

/** Runs the commands of one session between two snapshots, and hands over the changes. */
export class CommandWatch {
  readonly #open: () => Promise<CommandSnapshots>;
  readonly #onChange: (changes: readonly CommandChange[]) => void;
  #snapshots: Promise<CommandSnapshots> | undefined;
  #running = 0;

  constructor(open: () => Promise<CommandSnapshots>, onChange: (changes: readonly CommandChange[]) => void) {
    this.#open = open;
    this.#onChange = onChange;
  }

  /** Runs a command that may change files. */
  async run<Result>(command: () => Promise<Result>): Promise<Result> {
    const before = await (await this.snapshots()).capture();
    // Another command runs, so that what changed until now is its work.
    if (this.#running > 0) this.#report(before);
    this.#running += 1;
    try {
      return await command();
    } finally {
      const after = await (await this.snapshots()).capture();
      this.#running -= 1;
      this.#report(after);
    }
  }

  snapshots(): Promise<CommandSnapshots> {
    return (this.#snapshots ??= this.#open());
  }

  #report(changes: readonly CommandChange[]): void {
    if (changes.length > 0) this.#onChange(changes);
  }
}
