import { toPlainJson } from "./json.ts";
import type { Content, Outcome, OutcomeStatus } from "./parts.ts";

/** A tool response as other programs record it. */
export type RecordedResponse = {
  readonly isComplete?: boolean | undefined;
  readonly error?: unknown;
  readonly result?: unknown;
};

/**
 * Infers the status of a call from all three fields together: an error means `error`; a result means `complete` unless
 * `isComplete` is false; a response that is neither complete nor has a result is still `pending`.
 */
export const inferStatus = ({ isComplete, error, result }: RecordedResponse): OutcomeStatus | "pending" => {
  const hasResult = result !== undefined && result !== null;
  if (error !== undefined && error !== null && error !== "" && error !== false) return "error";
  if (isComplete === false) return hasResult ? "interrupted" : "pending";
  if (isComplete === true) return "complete";
  return hasResult ? "complete" : "pending";
};

/** Returns the outcome a recorded response describes; undefined while the call is pending. */
export const outcomeFromRecorded = (response: RecordedResponse): Outcome | undefined => {
  const status = inferStatus(response);
  if (status === "pending") return undefined;
  const values = [
    ...(status === "error" ? [response.error] : []),
    ...(response.result === undefined || response.result === null ? [] : [response.result]),
  ];
  return { status, content: values.map(asContent) };
};

const asContent = (value: unknown): Content => {
  if (typeof value === "string") return { type: "text", text: value.toWellFormed() };
  return value instanceof Error
    ? { type: "text", text: value.message.toWellFormed() }
    : { type: "structured", value: toPlainJson(value).value };
};
