/** Exit codes of a failed run. Those above 2 are the same as in Gemini CLI. */
export type ExitCode = 1 | 2 | 41 | 44 | 52 | 53 | 130;

/** An error the user can understand and act on. Any other thrown error is a bug. */
export class UserError extends Error {
  override readonly name = "UserError";
  /** Exit code: 1 if the work failed, 2 for wrong usage or unreadable input; chat has more. */
  readonly code: ExitCode;
  /** Whether to print the usage of the command. */
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

/** Creates an error for wrong usage of a command. */
export const usageError = (message: string): UserError => new UserError(message, { usage: true });
