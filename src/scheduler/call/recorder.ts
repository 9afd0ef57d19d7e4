import type { CallId } from "../../conversation/parts.ts";
import type { ApprovalRequest } from "../events.ts";
import type { ApprovalAnswer } from "./active-call.ts";

/** Records calls in the session log. Every promise resolves once the record is durable. */
export type CallRecorder = {
  /** Records the response that requested the calls. */
  readonly recordRequest: () => Promise<void>;
  /** Records that a call has not begun: it awaits approval or, without one, another call that does. */
  readonly recordQuestion: (call: CallId, approval?: ApprovalRequest) => Promise<void>;
  readonly recordAnswer: (call: CallId, answer: ApprovalAnswer) => Promise<void>;
};

const recordNothing = (): Promise<void> => Promise.resolve();

/** For calls that are in no session log. */
export const noRecorder: CallRecorder = {
  recordRequest: recordNothing,
  recordQuestion: recordNothing,
  recordAnswer: recordNothing,
};
