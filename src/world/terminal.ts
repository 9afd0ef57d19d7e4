/** How many letters fit on a terminal. */
export type TerminalSize = { readonly columns: number; readonly rows: number };

/** What a terminal, or the system behind it, tells. */
export type TerminalEvent =
  | { readonly type: "input"; readonly bytes: Uint8Array }
  | { readonly type: "resize" }
  /** The program was stopped and goes on; others have written meanwhile. */
  | { readonly type: "continue" }
  /** The terminal is gone (`SIGHUP`, the end of its input) or the program is asked to go (`SIGTERM`). */
  | { readonly type: "hang-up" }
  | { readonly type: "terminate" };

/** The terminal a person sits at. */
export type Terminal = {
  /** Asked of the terminal each time. */
  readonly size: () => TerminalSize;
  /** Resolves once the terminal can take more. */
  readonly write: (text: string) => Promise<void>;
  /** Every key as it is pressed, and none of them shown by the terminal itself. */
  readonly setRaw: (isRaw: boolean) => void;
  /** Tells a listener everything until the returned function is called. */
  readonly listen: (listener: (event: TerminalEvent) => void) => () => void;
  /** What is written whenever and however this process ends, or is stopped from outside; the latest given counts. */
  readonly onExit: (farewell: (() => string) | undefined) => void;
  /** Stops this process as Ctrl-Z does; a `continue` event follows when it goes on. */
  readonly suspend: () => void;
};
