/** The size of a terminal in cells. */
export type TerminalSize = { readonly columns: number; readonly rows: number };

/** An event of a terminal, or of the system behind it. */
export type TerminalEvent =
  | { readonly type: "input"; readonly bytes: Uint8Array }
  | { readonly type: "resize" }
  /** The program was suspended and resumed; others have written to the terminal meanwhile. */
  | { readonly type: "continue" }
  /** The terminal was closed (`SIGHUP`, end of input), or the program is asked to exit (`SIGTERM`). */
  | { readonly type: "hang-up" }
  | { readonly type: "terminate" };

/** The terminal of the user. */
export type Terminal = {
  /** Queried each time. */
  readonly size: () => TerminalSize;
  /** Resolves once the terminal can take more. */
  readonly write: (text: string) => Promise<void>;
  /** Raw mode: every key as it is pressed, without echo. */
  readonly setRaw: (isRaw: boolean) => void;
  /** Calls a listener for every event until the returned function is called. */
  readonly listen: (listener: (event: TerminalEvent) => void) => () => void;
  /**
   * Sets the text to write whenever and however this process exits, or is suspended from outside; the latest replaces
   * the earlier.
   */
  readonly onExit: (farewell: (() => string) | undefined) => void;
  /** Suspends this process as Ctrl-Z does; a `continue` event follows when it is resumed. */
  readonly suspend: () => void;
};
