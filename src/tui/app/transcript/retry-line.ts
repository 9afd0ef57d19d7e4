import type { AgentEvent } from "../../../agent/events.ts";
import { formatDuration } from "../../views/spinner.ts";
import { retryCause } from "./event-text.ts";

type Retry = { readonly cause: string; readonly count: number; readonly dueAt: number };

/** The retries of a request as one line: it counts while they go on, and is kept once something else happens. */
export class RetryLine {
  #retry: Retry | undefined;

  /** Counts a retry. Returns the line to keep if an earlier one had another cause. */
  add(event: Extract<AgentEvent, { type: "retrying" }>, now: number): string | undefined {
    const cause = retryCause(event);
    const kept = this.#retry?.cause === cause ? undefined : this.take();
    this.#retry = { cause, count: (this.#retry?.count ?? 0) + 1, dueAt: now + event.delay };
    return kept;
  }

  /** The current state. */
  live(now: number): string | undefined {
    if (this.#retry === undefined) return undefined;
    const { cause, count, dueAt } = this.#retry;
    const wait = dueAt - now < 1000 ? "" : ` in ${formatDuration(dueAt - now)}`;
    return `${cause}. Retrying${wait}${count === 1 ? "" : ` (attempt ${count + 1})`}.`;
  }

  /** Ends the line. Returns what is kept of it. */
  take(): string | undefined {
    if (this.#retry === undefined) return undefined;
    const { cause, count } = this.#retry;
    this.#retry = undefined;
    return `${cause}. Retried ${["", "once", "twice"][count] ?? `${count} times`}.`;
  }
}

/** Whether an event tells how a request that was retried went on. */
export const endsRetries = (event: AgentEvent): boolean => {
  switch (event.type) {
    case "thought":
    case "text":
    case "message":
    case "call-requested":
    case "model-changed":
    case "compacted":
    case "finished":
    case "failed":
    case "cancelled":
    case "parked":
      return true;
    case "retrying":
    case "request":
    case "usage":
    case "user":
    case "call-updated":
    case "call-output":
    case "call-completed":
    case "permission-added":
    case "notice":
    case "hook":
    case "todos":
    case "task":
    case "agent":
      return false;
  }
};
