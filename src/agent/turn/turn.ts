import type { NewPart } from "../../conversation/ledger.ts";
import type { Call, UserPart } from "../../conversation/parts.ts";
import { hasSchemaCycle } from "../../conversation/schema-cycle.ts";
import { SessionError } from "../../session/error.ts";
import type { LoggedTurnEnd } from "../../session/log/record.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import { UnsupportedMediaError } from "../../transcript/place.ts";
import { recordDecisions } from "../../transcript/record-decisions.ts";
import { ProviderError, type Failure } from "../../transport/failure.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import { ContextOverflowError } from "../context-window/budget.ts";
import type { AgentEvent, AgentFailure, EndReason } from "../events.ts";
import { applyModelSettings } from "../models/model-settings.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import { recordModelChange, type ModelChange } from "../models/router.ts";
import {
  emptyAnswerNotice,
  interruptedAnswerNotice,
  supersededCallResult,
  unreadableCallNotice,
  wrongOutputNotice,
} from "../prompts.ts";
import { sendModelRequest, StreamInterruptedError, type ModelResponse } from "../requests/model-request.ts";
import type { TurnContext } from "./context.ts";
import { DurableEventQueue } from "./durable-event-queue.ts";
import { ToolCallRunner } from "./tool-calls.ts";

/** The last event of a turn. */
export type TurnEnd = Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" | "parked" }>;

/** How often an interrupted answer is requested again, and an unusable one. */
const maxRetries = 2;

/** How often hooks can keep a turn from ending. A hook that always blocks would never let it end. */
const maxHookBlocks = 8;

/**
 * One turn: the prompt, the model's answer, its tool calls, their results, and so on until the model stops. However it
 * ends, the conversation it leaves can be sent to any model.
 */
export class Turn {
  readonly #context: TurnContext;
  readonly #signal: AbortSignal;
  readonly #events: DurableEventQueue;
  readonly #calls: ToolCallRunner;
  /** The requests of this turn. */
  #requests = 0;
  /** The number of the last request in the conversation. */
  #requestNumber = 0;
  /** The number of the prompt in the session that this turn answers. */
  #promptNumber = 0;
  #unusableAnswers = 0;
  #wrongOutputs = 0;
  #interruptions = 0;
  /** How often hooks kept this turn from ending. */
  #hookBlocks = 0;
  /** Whether the context was compacted because a request was too long, without an answer since. */
  #hasCompacted = false;
  #lastText = "";
  /** The rendering report of the last request that failed. */
  #report: RenderReport | undefined;

  constructor(context: TurnContext, signal: AbortSignal) {
    this.#context = context;
    this.#signal = signal;
    this.#events = new DurableEventQueue(context);
    this.#calls = new ToolCallRunner({ context, events: this.#events, promptId: () => this.#promptId(), signal });
  }

  /** Answers a prompt. Calls that still await approval are cancelled. */
  run(input: readonly UserPart[]): Promise<TurnEnd> {
    this.#promptNumber = this.#countPrompts() + 1;
    return this.#runToEnd(async () => {
      this.#cancelPendingCalls();
      await this.#addQueuedMessages();
      return this.#addPrompt(input);
    });
  }

  /** Continues a turn that was interrupted or parked: first the calls that await approval, then the model. */
  continue(): Promise<TurnEnd> {
    const { ledger, waitingCalls: waiting } = this.#context.journal;
    const last = ledger.entries.findLast(({ type }) => type !== "notice");
    this.#promptNumber = this.#countPrompts();
    return this.#runToEnd(
      async () =>
        waiting.length > 0 || last?.type === "user" || last?.type === "completion" ? undefined : this.#finished("stop"),
      async () => (waiting.length === 0 ? this.#step() : this.#afterCalls(await this.#calls.runAgain(waiting))),
    );
  }

  /** Runs a turn. `begin` may end it before its first step. */
  async #runToEnd(
    begin: () => Promise<TurnEnd | undefined>,
    firstStep = (): Promise<TurnEnd | undefined> => this.#step(),
  ): Promise<TurnEnd> {
    const { router, hooks } = this.#context;
    try {
      await hooks?.startTurn(this.#promptId());
      const ended = await begin();
      if (ended !== undefined) return ended;
      this.#promptNumber = this.#countPrompts();
      await this.#recordModelChange(router.startTurn());
      for (let end = await firstStep(); ; end = await this.#step()) {
        if (end === undefined) continue;
        if (end.type === "finished" && end.reason === "stop" && (await this.#continues(end))) continue;
        const checked = await this.#checkOutput(end);
        if (checked === undefined) continue;
        this.#recordEnd(checked);
        await this.#events.flush();
        // Gives readers of the last events time to queue a message in response.
        await this.#events.flush();
        if (checked.type !== "finished" || checked.reason !== "stop" || !(await this.#addQueuedMessages()))
          return checked;
      }
    } catch (error) {
      return this.#endWithError(error);
    }
  }

  /** Adds the prompt with the notices before it. Returns the end of the turn if a hook refuses the prompt. */
  async #addPrompt(input: readonly UserPart[]): Promise<TurnEnd | undefined> {
    const decided = await this.#context.hooks?.beforePrompt(input, this.#signal);
    if (decided?.refusal !== undefined)
      return failed({ kind: "hook", message: `A hook refused the prompt: ${decided.refusal}` });
    this.#addNotices();
    this.#addOutputNotice();
    this.#addMessage(input);
    for (const text of decided?.context ?? []) this.#context.journal.ledger.notice(text);
    return undefined;
  }

  /** Whether the turn continues although the model stopped: with queued messages, or because a hook says so. */
  async #continues({ text }: Extract<TurnEnd, { type: "finished" }>): Promise<boolean> {
    const { hooks, journal, emit } = this.#context;
    if (await this.#addQueuedMessages()) return true;
    if (hooks === undefined) return false;
    await this.#events.flush();
    const { continueWith } = await hooks.beforeStop({ text, isRepeated: this.#hookBlocks > 0 }, this.#signal);
    if (continueWith === undefined || this.#signal.aborted) return false;
    this.#hookBlocks += 1;
    if (this.#hookBlocks > maxHookBlocks) {
      emit({ type: "notice", text: `Hooks kept the turn from ending ${maxHookBlocks} times. It ends now.` });
      return false;
    }
    journal.ledger.notice(continueWith);
    return true;
  }

  /** Records a change of the model, and passes it on to hooks. */
  async #recordModelChange(change: ModelChange | undefined): Promise<void> {
    recordModelChange(change, this.#context);
    await this.#context.afterModelChange?.(change);
  }

  /** Records how the turn ends, with the next commit. If a message is queued meanwhile, the turn continues and ends once more. */
  #recordEnd(end: TurnEnd): void {
    this.#context.journal.appendMetadata({ kind: "turn", number: this.#promptNumber, end: describeEnd(end) });
  }

  /** Completes calls that were never run, because another prompt came first. */
  #cancelPendingCalls(): void {
    const { ledger, waitingCalls } = this.#context.journal;
    for (const { id, tool } of waitingCalls)
      ledger.complete(id, tool, { status: "cancelled", content: [{ type: "text", text: supersededCallResult }] });
  }

  /** Tells the model the schema of answers, unless the conversation has it already. */
  #addOutputNotice(): void {
    const { output, journal } = this.#context;
    if (output === undefined) return;
    const isKnown = journal.ledger.entries.some((entry) => entry.type === "notice" && entry.text === output.notice);
    if (!isKnown) journal.ledger.notice(output.notice);
  }

  /** Adds the validated output to the end of a turn. Undefined if the answer does not match and is requested again. */
  async #checkOutput(end: TurnEnd): Promise<TurnEnd | undefined> {
    const { output, journal, emit } = this.#context;
    if (output === undefined || end.type !== "finished" || end.reason !== "stop") return end;
    await this.#events.flush();
    const checked = await output.check(end.text);
    if ("value" in checked) return { ...end, output: checked.value };
    this.#wrongOutputs += 1;
    if (this.#wrongOutputs > maxRetries)
      return failed({
        kind: "output",
        message: `The answer does not match the schema, after ${maxRetries + 1} attempts. ${checked.problem}`,
      });
    emit({
      type: "notice",
      text: `The answer does not match the schema. ${checked.problem} Requested again (${this.#wrongOutputs} of ${maxRetries}).`,
    });
    journal.ledger.notice(wrongOutputNotice(checked.problem));
    return undefined;
  }

  /** Sends one request and handles its response. Undefined if the turn continues. */
  async #step(): Promise<TurnEnd | undefined> {
    const { limits, spending } = this.#context;
    if (this.#requests >= limits.turns) return this.#finished("max-turns");
    if (spending.totalCost >= limits.spend) return this.#finished("max-spend");
    await this.#checkPrice();
    await this.#prepareRequest();
    const response = await this.#request();
    if (response === undefined) return undefined;
    const end = await this.#handleResponse(response);
    if (this.#signal.aborted && end?.type !== "parked") return { type: "cancelled" };
    return end;
  }

  /** Brings tools, media and the context window into the state the next request needs. */
  async #prepareRequest(): Promise<void> {
    const { journal, window, router, beforeRequest, inputCheck, mediaFetcher } = this.#context;
    if (beforeRequest !== undefined) {
      await this.#events.flush();
      await beforeRequest();
    }
    // Before a compaction, since the request for a summary may hold media too.
    await inputCheck?.prepare(router.current, this.#signal);
    if (await window.isFull()) {
      await this.#events.flush();
      await window.compact(this.#signal);
      await window.assertFits();
    }
    recordDecisions(journal.ledger);
    await mediaFetcher?.prepare(router.current, this.#signal);
  }

  /**
   * Requests the next answer. Undefined if it failed and another request may succeed. The request is built while the
   * disk is busy, and sent once everything in it is committed.
   */
  async #request(): Promise<ModelResponse | undefined> {
    const { router, scheduler, nextRequestNumber, journal } = this.#context;
    this.#requests += 1;
    // The router's model may change before the response arrives.
    const model = router.current;
    const committed = this.#events.flush();
    committed.catch(() => undefined);
    await journal.submitted;
    const settings = await this.#requestSettings(model);
    let cancelPreload: (() => void) | undefined;
    try {
      this.#requestNumber = nextRequestNumber();
      const response = sendModelRequest({
        ...this.#context,
        model,
        settings,
        number: this.#requestNumber,
        committed,
        promptId: this.#promptId(),
        signal: this.#signal,
      });
      cancelPreload = scheduler.preload();
      return await response;
    } catch (error) {
      await this.#recover(error, model);
      return undefined;
    } finally {
      cancelPreload?.();
    }
  }

  /** The settings of the next request: a long conversation leaves less room for the answer. */
  async #requestSettings(model: ModelRef): Promise<RequestSettings> {
    const { settings: all, window, modelSettings } = this.#context;
    const settings = applyModelSettings(all, modelSettings?.(model));
    const contextLeft = await window.tokensLeft(model);
    return contextLeft === undefined ? settings : { ...settings, contextLeft };
  }

  /** Says once per model that a spending limit cannot count its answers. */
  async #checkPrice(): Promise<void> {
    const { limits, spending, router, emit } = this.#context;
    const { current } = router;
    if (!Number.isFinite(limits.spend) || current.provider.auth.type === "none") return;
    if (!(await spending.isFirstUnpriced(current))) return;
    const { describeUnpriced } = await import("../../providers/models.ts");
    emit({ type: "notice", text: describeUnpriced(modelName(current)), isWarning: true });
  }

  /** Prepares another request after a failed one: compacted, without a tool, again, or to another model. Rethrows if none may succeed. */
  async #recover(error: unknown, model: ModelRef): Promise<void> {
    const { router, emit, window, journal } = this.#context;
    const interrupted = error instanceof StreamInterruptedError ? error : undefined;
    const cause = interrupted?.cause ?? error;
    if (!(cause instanceof ProviderError) || cause.failure.kind === "cancelled" || this.#signal.aborted) {
      this.#recordPartialAnswer(interrupted, this.#signal.aborted ? "person" : "accident");
      throw cause;
    }
    const { failure } = cause;
    if (failure.kind === "context-too-long" && !this.#hasCompacted) {
      this.#hasCompacted = true;
      await window.recordRefusal(model);
      // The same request would be refused again.
      if (!(await window.compact(this.#signal))) throw cause;
      return;
    }
    if (this.#removeCyclicTools(failure)) return;
    if (failure.partial === true && isTransient(failure) && this.#interruptions < maxRetries) {
      this.#interruptions += 1;
      emit({ type: "retrying", failure, delay: 0, discarded: true });
      return;
    }
    const change = router.recordFailure(failure, model);
    this.#report = interrupted?.request?.report;
    if (change === undefined && modelName(router.current) === modelName(model)) {
      this.#recordPartialAnswer(interrupted, "accident");
      throw cause;
    }
    if (failure.partial === true) emit({ type: "retrying", failure, delay: 0, discarded: true });
    await this.#recordModelChange(change);
    await journal.commit();
  }

  /** Removes tools whose schema refers to itself, if a request was refused for the depth of a schema. */
  #removeCyclicTools(failure: Failure): boolean {
    const { builder, emit } = this.#context;
    if (failure.kind !== "refused" || !isAboutSchemaDepth(failure.detail ?? "")) return false;
    const { prefix } = builder;
    const cyclic = prefix.tools.filter(({ parameters }) => hasSchemaCycle(parameters)).map(({ name }) => name);
    if (cyclic.length === 0) return false;
    builder.replacePrefix({ ...prefix, tools: prefix.tools.filter(({ name }) => !cyclic.includes(name)) });
    const them = cyclic.length === 1 ? "that tool" : "those tools";
    const text = `${failure.label} refuses the depth of a tool's schema. The parameters of ${cyclic.join(", ")} refer to themselves; the session continues without ${them}.`;
    emit({ type: "notice", text });
    return true;
  }

  /** Records an answer and runs its tool calls. */
  async #handleResponse(response: ModelResponse): Promise<TurnEnd | undefined> {
    const { parts, finish, isRepeating } = response;
    if (finish === "context") return this.#handleOverflow();
    if (finish === "malformed" || !parts.some(hasContent)) return this.#handleUnusableAnswer(response);
    const calls = this.#recordAnswer(response);
    await this.#emitAnswer(response);
    this.#interruptions = 0;
    this.#hasCompacted = false;
    if (!isRepeating && calls.length > 0) return this.#runCalls(calls, finish === "length");
    return this.#finished(isRepeating ? "loop" : finish === "calls" ? "stop" : finish);
  }

  #recordAnswer({ parts, blobs, request, usage }: ModelResponse): readonly Call[] {
    const { journal, window } = this.#context;
    const { provider, model, account } = request.destination.target;
    const digest = request.digest();
    journal.addBlobs(blobs);
    const origin = { provider, model, ...(account === undefined ? {} : { account }) };
    const calls = journal.ledger.model(origin, parts, digest);
    if (usage !== undefined) window.recordUsage(usage.input + usage.output, journal.ledger.entries.length);
    journal.appendMetadata({
      kind: "request",
      turn: this.#requestNumber,
      provider,
      model,
      digest,
      notes: request.notes,
      ...(usage === undefined ? {} : { usage }),
    });
    return calls;
  }

  async #emitAnswer({ parts, usage, model, answeredBy }: ModelResponse): Promise<void> {
    const text = joinText(parts, "text");
    if (text !== "") this.#lastText = text;
    const media = parts.filter((part) => part.type === "media");
    this.#events.emitAfterCommit({ type: "message", text, thought: joinText(parts, "thinking"), media });
    if (usage === undefined) return;
    const spent = await this.#context.spending.add(model, usage);
    this.#events.emitAfterCommit({
      type: "usage",
      model: modelName(model),
      ...(answeredBy === undefined ? {} : { answeredBy }),
      usage,
      spent,
    });
  }

  async #runCalls(calls: readonly Call[], isTruncated: boolean): Promise<TurnEnd | undefined> {
    return this.#afterCalls(await this.#calls.run(calls, isTruncated));
  }

  async #afterCalls(result: Awaited<ReturnType<ToolCallRunner["run"]>>): Promise<TurnEnd | undefined> {
    if (result === "loop") return this.#finished("loop");
    if (result === "parked") return { type: "parked" };
    if (this.#signal.aborted) return { type: "cancelled" };
    if (result === "done") await this.#addQueuedMessages();
    this.#addNotices();
    return this.#context.hooks?.takeStop() === undefined ? undefined : this.#finished("hook");
  }

  #countPrompts(): number {
    return this.#context.journal.ledger.entries.filter(({ type }) => type === "user").length;
  }

  /** Names the prompt this turn answers, the same in every run of the session. */
  #promptId(): string | undefined {
    const { sessionId } = this.#context;
    return sessionId === undefined ? undefined : `${sessionId}#${this.#promptNumber}`;
  }

  /** Adds the messages queued meanwhile to the conversation. True if there were any. */
  async #addQueuedMessages(): Promise<boolean> {
    const { hooks, takeQueuedMessages, emit, journal } = this.#context;
    let hasAdded = false;
    for (const parts of takeQueuedMessages()) {
      const decided = await hooks?.beforePrompt(parts, this.#signal);
      if (decided?.refusal !== undefined) {
        emit({ type: "notice", text: `A hook refused a queued message: ${decided.refusal}` });
        continue;
      }
      this.#addMessage(parts);
      for (const text of decided?.context ?? []) journal.ledger.notice(text);
      hasAdded = true;
    }
    return hasAdded;
  }

  #addNotices(): void {
    for (const text of this.#context.takeNotices()) this.#context.journal.ledger.notice(text);
  }

  #addMessage(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    this.#context.journal.ledger.user(parts);
    this.#calls.resetRepetition();
    this.#events.emitAfterCommit({ type: "user", parts });
  }

  /** Compacts after an answer that ended because the context window is full. */
  async #handleOverflow(): Promise<TurnEnd | undefined> {
    const { window, router } = this.#context;
    if (this.#hasCompacted) return this.#finished("length");
    this.#hasCompacted = true;
    await window.recordRefusal(router.current);
    return (await window.compact(this.#signal)) ? undefined : this.#finished("length");
  }

  /** Requests another answer after an empty one or an unreadable call, with a notice: it helps more often than not. */
  #handleUnusableAnswer({ finish, model }: ModelResponse): TurnEnd | undefined {
    this.#unusableAnswers += 1;
    if (this.#unusableAnswers > maxRetries)
      return {
        type: "failed",
        failure: {
          kind: "no-answer",
          message: `${modelName(model)} gave no usable answer. Try again, or use another model.`,
        },
      };
    this.#context.journal.ledger.notice(finish === "malformed" ? unreadableCallNotice : emptyAnswerNotice);
    return undefined;
  }

  /** Records the text of an interrupted answer: the person has seen it, so it is part of the conversation. */
  #recordPartialAnswer(interrupted: StreamInterruptedError | undefined, by: "person" | "accident"): void {
    if (interrupted?.request === undefined || interrupted.text.trim() === "") return;
    const { provider, model } = interrupted.request.destination.target;
    const { ledger } = this.#context.journal;
    ledger.model({ provider, model }, [{ type: "text", text: interrupted.text }]);
    ledger.notice(interruptedAnswerNotice[by]);
  }

  #finished(reason: EndReason): TurnEnd {
    return { type: "finished", reason, text: this.#lastText };
  }

  /** Commits what is left and says how the turn failed. Rethrows a bug. */
  async #endWithError(error: unknown): Promise<TurnEnd> {
    const end = this.#describeError(error);
    if (end !== undefined) this.#recordEnd(end);
    const uncommitted = await this.#events.flushFinal().catch((reason: unknown) => reason);
    if (uncommitted instanceof SessionError) return failed({ kind: "storage", message: uncommitted.message });
    if (end === undefined) throw error;
    return end;
  }

  /** How the turn ends by an error. Undefined for a bug. */
  #describeError(error: unknown): TurnEnd | undefined {
    if (this.#signal.aborted) return { type: "cancelled" };
    if (error instanceof ProviderError) return this.#failedProvider(error);
    if (error instanceof ContextOverflowError) return failed({ kind: "context", message: error.message });
    if (error instanceof UnsupportedMediaError) return failed({ kind: "media", message: error.message });
    if (error instanceof SessionError) return failed({ kind: "storage", message: error.message });
    return undefined;
  }

  #failedProvider({ failure, message }: ProviderError): TurnEnd {
    if (failure.kind === "cancelled") return { type: "cancelled" };
    const report = failure.kind === "refused" && this.#report !== undefined ? { report: this.#report } : {};
    return failed({ kind: "provider", failure, message, ...report });
  }
}

const describeEnd = (end: TurnEnd): LoggedTurnEnd => {
  switch (end.type) {
    case "finished":
      return { type: "finished", reason: end.reason };
    case "failed":
      return { type: "failed", reason: end.failure.kind, message: end.failure.message };
    case "cancelled":
    case "parked":
      return { type: end.type };
  }
};

const failed = (failure: AgentFailure): TurnEnd => ({ type: "failed", failure });

/** In the words of Google, Vertex and others: their errors have no code for it. */
const isAboutSchemaDepth = (detail: string): boolean =>
  /schema.{0,60}(depth|too deep|deeply|recursi|cycl|circular)|(depth|recursi\w*|cycl\w*|nest\w*).{0,60}schema/i.test(
    detail,
  );

const hasContent = (part: NewPart): boolean =>
  part.type === "call" ||
  part.type === "media" ||
  ((part.type === "text" || part.type === "code") && /\S/.test(part.text));

const joinText = (parts: readonly NewPart[], type: "text" | "thinking"): string =>
  parts.map((part) => (part.type === type ? part.text : "")).join("");

/** Whether the same request may simply succeed now. */
const isTransient = (failure: Failure): boolean =>
  (failure.kind === "time-out" && failure.phase !== "whole") ||
  ["stream-cut", "network", "overloaded", "malformed-stream"].includes(failure.kind);
