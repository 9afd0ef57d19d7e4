/** Child processes. */
export type Processes = {
  /** Starts a program in its own process group, without a shell. Rejects if it cannot be started. */
  readonly start: (program: Program) => Promise<RunningProcess>;
  /** Finds a program on this search path; undefined if it is not there. */
  readonly find: (name: string, searchPath: string) => Promise<string | undefined>;
  /** Does ahead what the first `start` would wait for. Starts nothing. */
  readonly prepare?: () => Promise<void>;
};

export type Program = {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Set where Windows passes the arguments on unchanged, without quotes around them. */
  readonly hasVerbatimArguments?: true;
  /** The canonical path of the working directory; rejected if it contains a link. */
  readonly cwd: string;
  readonly env: { readonly [name: string]: string };
  /** Written to stdin, which is then closed. */
  readonly input?: string;
  /**
   * Set for a program we exchange messages with: stdin stays open for `write`, `input` is not used, and its whole group
   * ends when this process dies, however it dies.
   */
  readonly isInteractive?: true;
  /**
   * Set for a program whose group is ended if this process dies while it runs, however it dies. Costs less than
   * `isInteractive`.
   */
  readonly diesWithParent?: true;
};

/** A running program. It blocks when its output is not read. */
export type RunningProcess = {
  readonly pid: number;
  /** Chunks in order of arrival. The bytes of one are freed once the next is requested: copy them to keep them. */
  readonly output: AsyncIterable<{ readonly from: "output" | "error"; readonly bytes: Uint8Array }>;
  /** Settles when the program has exited and its output has been read. */
  readonly exited: Promise<{ readonly code: number | undefined; readonly signal: string | undefined }>;
  /** Writes to stdin of an interactive program; settles when it is accepted. Rejects when stdin is closed. */
  readonly write: (bytes: Uint8Array) => Promise<void>;
  /** Closes stdin of an interactive program. */
  readonly closeInput: () => void;
  /** Signals the whole group; does nothing if it is gone. */
  readonly signal: (signal: "SIGINT" | "SIGTERM" | "SIGKILL") => void;
  /** The ids of the processes still alive in its group. */
  readonly groupMembers: () => Promise<readonly number[]>;
};
