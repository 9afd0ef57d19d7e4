/** Other programs. */
export type Processes = {
  /** Starts a program in a process group of its own. Rejects if it cannot be started. Nothing is looked up in a shell. */
  readonly start: (program: Program) => Promise<RunningProcess>;
  /** The absolute path of a program found on this search path, or undefined. */
  readonly find: (name: string, searchPath: string) => Promise<string | undefined>;
};

export type Program = {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Set where Windows passes the arguments on as they are, without quotes around them. */
  readonly hasVerbatimArguments?: true;
  /** The canonical path of the folder it starts in; with a link in it, nothing starts. */
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Written to its input, which is then closed. */
  readonly input?: string;
  /**
   * Set for one we talk to: its input stays open for `write`, and its whole group ends when we do, however we end.
   * Its own `input` is then not used.
   */
  readonly isInteractive?: true;
  /** Set for one whose group is ended when this process dies while it runs, however it dies. Costs less than a companion. */
  readonly diesWithParent?: true;
};

/** A program that runs. Its output must be read, or it waits. */
export type RunningProcess = {
  readonly pid: number;
  /** Pieces as they come. The bytes of one are gone once the next is asked for: whoever needs them longer copies them. */
  readonly output: AsyncIterable<{ readonly from: "output" | "error"; readonly bytes: Uint8Array }>;
  /** Settles when the program has ended and its output is read. */
  readonly exited: Promise<{ readonly code: number | undefined; readonly signal: string | undefined }>;
  /** Writes to the input of a companion; settles when it is taken. Rejects when nobody will take it. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Says to a companion that nothing more will come. */
  readonly closeInput: () => void;
  /** Signals the whole group; fine if it is gone. */
  readonly signal: (signal: "SIGINT" | "SIGTERM" | "SIGKILL") => void;
  /** The processes still alive in its group. */
  readonly groupMembers: () => Promise<readonly number[]>;
};
