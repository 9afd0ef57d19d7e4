import type { Call } from "../../conversation/parts.ts";
import type { FinishedCall } from "../../scheduler/events.ts";
import type { Scheduler } from "../../scheduler/scheduler.ts";
import { excessCallResult, repeatedCallResult, truncatedCallResult } from "../prompts.ts";
import type { TurnContext } from "./context.ts";
import type { DurableEventQueue } from "./durable-event-queue.ts";
import { createCallRecorder } from "./record-calls.ts";
import { RepeatedCallDetector } from "./repetition.ts";
import { skippedCallResult } from "./skipped-call.ts";

/**
 * The most calls of one answer that are run. Models make at most some dozen; each costs milliseconds and some 90 kB
 * while it runs, so thousands would hold the program for minutes.
 */
const maxCalls = 500;

/**
 * Milliseconds after which an answer, or the result of a call, is committed while other calls run. Calls that only read
 * usually end sooner, and then the answer and all results are one write to the disk; longer, and a crash could lose more.
 */
const commitDelayMs = 10;

/** The turn whose calls are run. */
export type CallBatchOptions = {
  readonly context: TurnContext;
  readonly events: DurableEventQueue;
  /** Names the prompt the turn answers, where there is a session. */
  readonly promptId: () => string | undefined;
  readonly signal: AbortSignal;
};

/** Runs the tool calls of a turn, one answer's calls at a time, and detects calls that repeat without a new result. */
export class ToolCallRunner {
  readonly #options: CallBatchOptions;
  readonly #repeated = new RepeatedCallDetector();

  constructor(options: CallBatchOptions) {
    this.#options = options;
  }

  /** Forgets earlier calls, so that the same calls may be made again. */
  resetRepetition(): void {
    this.#repeated.reset();
  }

  /**
   * Runs the calls of an answer as one batch. `skipped` if the answer was cut short and none was run, `loop` if none was
   * run because they repeat, `parked` if some were set aside because they wait for a person.
   */
  async run(requested: readonly Call[], isTruncated: boolean): Promise<"done" | "skipped" | "loop" | "parked"> {
    for (const call of requested) this.#emitRequested(call);
    if (isTruncated) {
      // Which call was cut short cannot be known, so none is run.
      await this.#skip(requested, truncatedCallResult);
      return "skipped";
    }
    const calls = requested.slice(0, maxCalls);
    if (requested.length > maxCalls) await this.#skip(requested.slice(maxCalls), excessCallResult(maxCalls));
    if (this.#repeated.isRepeating(calls) && !(await this.#confirmRepetition(calls))) {
      await this.#skip(calls, repeatedCallResult);
      return "loop";
    }
    return this.runAgain(calls);
  }

  /**
   * Runs calls that have not begun, also those set aside earlier. The answer they are in is committed before one of them
   * asks for approval or has a side effect.
   */
  async runAgain(calls: readonly Call[]): Promise<"done" | "parked"> {
    const { context, events, signal } = this.#options;
    const { journal, clock, beforeCalls } = context;
    const scheduler = await context.scheduler.open();
    if (beforeCalls !== undefined) {
      await events.flush();
      await beforeCalls(calls, signal);
    }
    let committed: Promise<void> | undefined;
    const commitAnswer = (): Promise<void> => {
      committed ??= events.commitInBackground();
      return committed;
    };
    let cancelCommit: (() => void) | undefined;
    const commitSoon = (): void => {
      cancelCommit ??= clock.after(commitDelayMs, () => {
        cancelCommit = undefined;
        void events.commitInBackground();
      });
    };
    commitSoon();
    const unsubscribe = this.#subscribe(scheduler, commitSoon);
    try {
      const finished = await scheduler.schedule(calls, signal, createCallRecorder(journal, events, commitAnswer));
      if (finished.length < calls.length) return "parked";
    } finally {
      cancelCommit?.();
      unsubscribe();
      void events.commitInBackground();
    }
    if (!signal.aborted)
      this.#repeated.add(
        calls,
        calls.map(({ id }) => journal.ledger.interaction(id)?.outcome),
      );
    return "done";
  }

  /** Records results as calls end, and emits the progress of the others. */
  #subscribe(scheduler: Scheduler, commitSoon: () => void): () => void {
    const { context, events } = this.#options;
    return scheduler.listen((event) => {
      if (event.type !== "call-changed") return events.emit(event);
      const { call, status } = event;
      if (!("finished" in status)) return events.emit({ type: "call-updated", call, status });
      const { finished } = status;
      context.journal.addBlobs(finished.blobs);
      this.#complete(finished);
      commitSoon();
    });
  }

  /** Completes calls that are not run, with the reason as their result. */
  async #skip(calls: readonly Call[], reason: string): Promise<void> {
    for (const call of calls) this.#complete(skippedCallResult(call, reason));
    await this.#options.events.commit();
  }

  #complete(finished: FinishedCall): void {
    const { context, events, promptId } = this.#options;
    const { call, outcome, record } = finished;
    context.journal.ledger.complete(call.id, call.tool, outcome);
    const prompt_id = promptId();
    events.emitAfterCommit({
      type: "call-completed",
      finished: prompt_id === undefined ? finished : { ...finished, record: { ...record, prompt_id } },
    });
  }

  #emitRequested(call: Call): void {
    const { events, promptId: getPromptId } = this.#options;
    const promptId = getPromptId();
    // The model makes every call of a turn; what the program itself reads or runs is not part of one.
    const event = { type: "call-requested", call, isClientInitiated: false } as const;
    events.emitAfterCommit(promptId === undefined ? event : { ...event, promptId });
  }

  /** Asks the person whether calls may be repeated once more. False if there is no person. */
  async #confirmRepetition(calls: readonly Call[]): Promise<boolean> {
    const { context, events, signal } = this.#options;
    if (context.confirm === undefined) return false;
    await events.flush();
    const tools = [...new Set(calls.map(({ tool }) => tool))].join(", ");
    const question = `The model keeps making the same calls (${tools}) without a new result. Let it continue?`;
    if (!(await context.confirm(question, signal))) return false;
    this.#repeated.reset();
    return true;
  }
}
