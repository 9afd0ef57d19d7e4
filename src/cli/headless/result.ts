import type { AgentEvent, EndReason, UsageTotals } from "../../agent/events.ts";
import { inputObject } from "../../conversation/call-input.ts";
import type { FinishedCall } from "../../scheduler/events.ts";
import { UserError } from "../user-error.ts";
import type { PermissionDenial, RunResult } from "./output.ts";

/** Adds up what a run did. */
export class ResultCollector {
  end: Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" }> | undefined;
  /** What was wrong with what was to be done next. */
  inputError: UserError | undefined;
  readonly #began: number;
  #calls = 0;
  #failed = 0;
  readonly #denials: PermissionDenial[] = [];

  constructor(began: number) {
    this.#began = began;
  }

  readonly record = (event: AgentEvent): void => {
    if (event.type === "agent" && event.event.type === "call-completed") this.#hearDenial(event.event.finished);
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") this.end = event;
    if (event.type !== "call-completed") return;
    this.#hearDenial(event.finished);
    this.#calls += 1;
    if (event.finished.outcome.status !== "complete") this.#failed += 1;
  };

  #hearDenial({ call, denial }: FinishedCall): void {
    if (denial !== undefined)
      this.#denials.push({ tool: call.tool, call: call.id, parameters: inputObject(call.input), ...denial });
  }

  result(spent: UsageTotals, now: number): RunResult {
    const { end, inputError: fault } = this;
    return {
      ...(fault === undefined ? statusOf(end) : badInputStatus(fault)),
      response: end?.type === "finished" ? end.text : "",
      spent,
      calls: { total: this.#calls, failed: this.#failed },
      denials: this.#denials,
      duration: now - this.#began,
    };
  }
}

/** The result of a run that failed before anything was sent. */
export const startFailureResult = (error: unknown): RunResult => {
  const failure = error instanceof UserError ? error : undefined;
  const type = failure === undefined ? "internal" : startFailureTypes[failure.code];
  return {
    status: "error",
    reason: type,
    error: { type, message: error instanceof Error ? error.message : String(error) },
    response: "",
    spent: { requests: 0, input: 0, cachedRead: 0, output: 0, cost: 0, unpriced: 0 },
    calls: { total: 0, failed: 0 },
    denials: [],
    duration: 0,
  };
};

const startFailureTypes: { readonly [code in UserError["code"]]: string } = {
  1: "cannot-start",
  2: "bad-input",
  41: "no-key",
  44: "sandbox",
  52: "settings",
  53: "limit",
  130: "cancelled",
};

const badInputStatus = ({ message }: UserError): ReturnType<typeof statusOf> => ({
  status: "error",
  reason: "bad-input",
  error: { type: "bad-input", message },
});

const statusOf = (end: ResultCollector["end"]): Pick<RunResult, "status" | "reason" | "error" | "report"> => {
  switch (end?.type) {
    case "finished":
      return isSuccess(end.reason)
        ? { status: "success", reason: end.reason }
        : {
            status: "error",
            reason: end.reason,
            error: { type: end.reason, message: limitMessages[end.reason] ?? end.reason },
          };
    case "failed":
      return {
        status: "error",
        reason: "failed",
        error: {
          type: end.failure.kind === "provider" ? end.failure.failure.kind : end.failure.kind,
          message: end.failure.message,
        },
        ...(end.failure.kind === "provider" && end.failure.report && { report: end.failure.report }),
      };
    case "cancelled":
    case undefined:
      return { status: "cancelled", reason: "cancelled" };
  }
};

const isSuccess = (reason: EndReason): boolean => reason === "stop" || reason === "other" || reason === "paused";

const limitMessages: { readonly [reason in EndReason]?: string } = {
  "max-turns": "Stopped at the limit of requests (--max-turns). Raise it, or continue with parley --continue.",
  "max-spend": "The task cost as much as it may. Raise limits.spend in the settings, or go on with another model.",
  loop: "The model did the same thing over and over, so it was stopped. Say it differently, or use another model.",
  length: "The answer reached its length limit and is not complete.",
  filtered: "A content filter stopped the answer. Say it differently, or use another model.",
  refused: "The model declined to answer.",
};

/** What can end a run from outside: a signal, a reader that leaves, or an output that cannot be written. */
export type CancelCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | "output";

/** As a shell tells of a program that a signal ended: 128 and the number of the signal. */
export const cancelExitCodes: { readonly [cause in CancelCause]: number } = {
  SIGINT: 130,
  SIGTERM: 143,
  SIGHUP: 129,
  SIGPIPE: 141,
  output: 1,
};

export const exitCodeFor = (
  end: ResultCollector["end"],
  { status, reason }: RunResult,
  cancelledBy: CancelCause | undefined,
): number => {
  if (status === "success") return 0;
  if (status === "cancelled") return cancelledBy === undefined ? 130 : cancelExitCodes[cancelledBy];
  if (end?.type === "finished") return reason === "max-turns" || reason === "max-spend" || reason === "loop" ? 53 : 1;
  const kind = end?.type === "failed" && end.failure.kind === "provider" ? end.failure.failure.kind : undefined;
  return kind === "no-key" || kind === "bad-key" || kind === "misconfigured" ? 41 : 1;
};
