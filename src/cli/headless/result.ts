import type { AgentEvent, EndReason, UsageTotals } from "../../agent/events.ts";
import { inputObject } from "../../conversation/call-input.ts";
import type { FinishedCall } from "../../scheduler/events.ts";
import { UserError } from "../user-error.ts";
import type { PermissionDenial, RunResult } from "./output.ts";

/** Collects the result of a run from its events. */
export class ResultCollector {
  end: Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" }> | undefined;
  /** An error in the input, which ended the run. */
  inputError: UserError | undefined;
  readonly #startedAt: number;
  #calls = 0;
  #failed = 0;
  readonly #denials: PermissionDenial[] = [];
  /** The text of the last response. */
  #text = "";

  readonly #limits: RunLimits;

  constructor(startedAt: number, limits: RunLimits = {}) {
    this.#startedAt = startedAt;
    this.#limits = limits;
  }

  readonly record = (event: AgentEvent): void => {
    if (event.type === "agent" && event.event.type === "call-completed") this.#recordDenial(event.event.finished);
    if (event.type === "request") this.#text = "";
    if (event.type === "text") this.#text += event.text;
    if (event.type === "finished" || event.type === "failed" || event.type === "cancelled") this.end = event;
    if (event.type !== "call-completed") return;
    this.#recordDenial(event.finished);
    this.#calls += 1;
    if (event.finished.outcome.status !== "complete") this.#failed += 1;
  };

  #recordDenial({ call, denial }: FinishedCall): void {
    if (denial !== undefined)
      this.#denials.push({ tool: call.tool, call: call.id, parameters: inputObject(call.input), ...denial });
  }

  /** The response that does not match the schema, if the turn failed for that. */
  #mismatch(): string {
    return this.end?.type === "failed" && this.end.failure.kind === "output" ? this.#text : "";
  }

  result(spent: UsageTotals, now: number): RunResult {
    const { end, inputError } = this;
    return {
      ...(inputError === undefined ? statusOf(end, this.#limits) : badInputStatus(inputError)),
      response: end?.type === "finished" ? end.text : this.#mismatch(),
      ...(end?.type === "finished" && "output" in end ? { output: end.output } : {}),
      spent,
      calls: { total: this.#calls, failed: this.#failed },
      denials: this.#denials,
      duration: now - this.#startedAt,
    };
  }
}

/** The limits named in messages. */
export type RunLimits = { readonly requests?: number | undefined; readonly spend?: number | undefined };

/** Returns the result of a run that failed before the first request. */
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

const statusOf = (
  end: ResultCollector["end"],
  limits: RunLimits,
): Pick<RunResult, "status" | "reason" | "error" | "report"> => {
  switch (end?.type) {
    case "finished":
      return isSuccess(end.reason)
        ? { status: "success", reason: end.reason }
        : {
            status: "error",
            reason: end.reason,
            error: { type: end.reason, message: describeEnd(end.reason, limits) },
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

const describeEnd = (reason: EndReason, { requests = 0, spend = 0 }: RunLimits): string => {
  switch (reason) {
    case "max-turns":
      return `Stopped after ${requests} ${requests === 1 ? "request" : "requests"} (--max-turns). Raise the limit, or resume with parley --continue.`;
    case "max-spend":
      return `Stopped: spending limit of $${spend < 0.01 ? spend : spend.toFixed(2)} reached (--max-spend, limits.spend). Raise the limit, or use another model.`;
    default:
      return endMessages[reason] ?? reason;
  }
};

const endMessages: { readonly [reason in EndReason]?: string } = {
  loop: "Stopped: the model kept repeating the same step. Rephrase the prompt, or use another model.",
  length: "The response reached its length limit and is incomplete.",
  filtered: "A content filter stopped the response. Rephrase the prompt, or use another model.",
  refused: "The model declined to respond.",
  hook: "Stopped by a hook.",
};

/** Cause of a cancellation: a signal, a closed output, or an output that cannot be written. */
export type CancelCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGPIPE" | "output";

/** As in shells: 128 plus the signal number. */
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
