import { toPlainJson } from "./json.ts";
import type { Content, Outcome, OutcomeStatus } from "./parts.ts";

/** A recorded response of unknown make: what other programs leave behind about a call. */
export type RecordedResponse = {
  readonly isComplete?: boolean | undefined;
  readonly error?: unknown;
  readonly result?: unknown;
};

/**
 * The state of a call, read from all three marks together: an error is an
 * error; a result is complete unless something says it is not; a response
 * that is neither complete nor filled is still pending.
 */
export const inferStatus = ({ isComplete, error, result }: RecordedResponse): OutcomeStatus | "pending" => {
  const hasResult = result !== undefined && result !== null;
  if (error !== undefined && error !== null && error !== "" && error !== false) return "error";
  if (isComplete === false) return hasResult ? "interrupted" : "pending";
  if (isComplete === true) return "complete";
  return hasResult ? "complete" : "pending";
};

/** The end of a call that such marks record; undefined while it is still pending. */
export const outcomeFromRecorded = (marks: RecordedResponse): Outcome | undefined => {
  const status = inferStatus(marks);
  if (status === "pending") return undefined;
  const said = [
    ...(status === "error" ? [marks.error] : []),
    ...(marks.result === undefined || marks.result === null ? [] : [marks.result]),
  ];
  return { status, content: said.map(asContent) };
};

const asContent = (value: unknown): Content => {
  if (typeof value === "string") return { type: "text", text: value.toWellFormed() };
  return value instanceof Error
    ? { type: "text", text: value.message.toWellFormed() }
    : { type: "structured", value: toPlainJson(value).value };
};
