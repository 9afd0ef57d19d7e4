import type { OutcomeStatus } from "./parts.ts";

/** A recorded response of unknown make: what other programs leave behind about a call. */
export type ResponseMarks = {
  readonly isComplete?: boolean | undefined;
  readonly error?: unknown;
  readonly result?: unknown;
};

/**
 * The state of a call, read from all three marks together: an error is an
 * error; a result is complete unless something says it is not; a response
 * that is neither complete nor filled is still pending.
 */
export const inferStatus = ({ isComplete, error, result }: ResponseMarks): OutcomeStatus | "pending" => {
  const hasResult = result !== undefined && result !== null;
  if (error !== undefined && error !== null && error !== "" && error !== false) return "error";
  if (isComplete === false) return hasResult ? "interrupted" : "pending";
  if (isComplete === true) return "complete";
  return hasResult ? "complete" : "pending";
};
