/** A failure of a remote agent, in words for the model and the person. */
export class RemoteAgentError extends Error {
  /** Whether the connection broke, so that the task may still run. */
  readonly isBroken: boolean;

  constructor(message: string, options: { readonly isBroken?: boolean; readonly cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.isBroken = options.isBroken ?? false;
  }
}
