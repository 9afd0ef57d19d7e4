/** How a program ends that did not do all of its work. Those above 2 are the ones Gemini CLI's users know. */
export type ExitCode = 1 | 2 | 41 | 44 | 52 | 53 | 130;

/** Something went wrong that the person at the keyboard can read about and act on. */
export class UserError extends Error {
  override readonly name = "Failure";
  /** The exit code: 1 when the work failed, 2 when there was nothing sensible to work on; runs have some of their own. */
  readonly code: ExitCode;
  /** Whether the command was called wrongly, so that its usage helps. */
  readonly showsUsage: boolean;

  constructor(
    message: string,
    { code = 2, usage = false }: { readonly code?: ExitCode; readonly usage?: boolean } = {},
  ) {
    super(message);
    this.code = code;
    this.showsUsage = usage;
  }
}

/** A command that was called wrongly. */
export const usageError = (message: string): UserError => new UserError(message, { usage: true });
