import type { NewPart } from "../../conversation/ledger.ts";
import type { Call, UserPart } from "../../conversation/parts.ts";
import { hasSchemaCycle } from "../../conversation/schema-cycle.ts";
import type { FinishedCall } from "../../scheduler/events.ts";
import type { Scheduler } from "../../scheduler/scheduler.ts";
import type { RenderReport } from "../../transcript/incremental-renderer.ts";
import { UnsupportedMediaError } from "../../transcript/place.ts";
import { recordDecisions } from "../../transcript/record-decisions.ts";
import { ProviderError, type Failure } from "../../transport/failure.ts";
import type { Transport } from "../../transport/transport.ts";
import type { RequestSettings } from "../../wire/wire.ts";
import type { Clock } from "../../world/world.ts";
import {
  sendModelRequest,
  StreamInterruptedError,
  type ModelResponse,
  type ConfirmContinue,
} from "../requests/model-request.ts";
import type { RequestBuilder } from "../requests/builder.ts";
import { ContextOverflowError } from "../context-window/budget.ts";
import type { AgentEvent, AgentFailure, EndReason } from "../events.ts";
import type { MediaFetcher } from "../requests/fetch-media.ts";
import type { Journal } from "../session/journal.ts";
import type { ModelInputCheck } from "../models/input.ts";
import { modelName, type ModelRef } from "../models/name.ts";
import { skippedCallResult } from "./skipped-call.ts";
import { RepeatedCallDetector } from "./repetition.ts";
import type { ModelChange, ModelRouter } from "../models/router.ts";
import type { SpendingTracker } from "../models/spending.ts";
import { DurableEventQueue } from "./durable-event-queue.ts";
import type { ContextWindow } from "../context-window/window.ts";
import {
  interruptedAnswerNotice,
  truncatedCallResult,
  emptyAnswerNotice,
  repeatedCallResult,
  excessCallResult,
  unreadableCallNotice,
} from "../prompts.ts";

/** What turns of one conversation share. */
export type TurnContext = {
  readonly transport: Transport;
  readonly journal: Journal;
  readonly builder: RequestBuilder;
  readonly router: ModelRouter;
  readonly spending: SpendingTracker;
  readonly window: ContextWindow;
  readonly settings: RequestSettings;
  readonly limits: TurnLimits;
  readonly clock: Pick<Clock, "after">;
  /** The scheduler, loaded when the first calls come; `soon` gets it ready while an answer is on its way. */
  readonly tools: { readonly soon: () => void; readonly open: () => Promise<Scheduler> };
  /** The number of the next request. */
  readonly nextRequestNumber: () => number;
  /** What the person said meanwhile; it is handed over once. */
  readonly takeQueuedMessages: () => readonly (readonly UserPart[])[];
  /** Called with calls before they are scheduled, where something has to be waited for. */
  readonly beforeCalls?: (calls: readonly Call[], signal: AbortSignal) => Promise<void>;
  /** The id of the session, kept when it is resumed. */
  readonly sessionId?: string | undefined;
  /** Finds out which files a model takes, before it is sent any. */
  readonly inputCheck?: Pick<ModelInputCheck, "prepare"> | undefined;
  /** Fetches files for models that take no addresses. */
  readonly mediaFetcher?: Pick<MediaFetcher, "prepare">;
  /** Whatever changes between requests, such as the list of tools. */
  readonly beforeRequest?: () => Promise<void> | void;
  /** Asks the person instead of stopping a model that repeats itself; absent where there is no person. */
  readonly confirm?: ConfirmContinue;
  readonly emit: (event: AgentEvent) => void;
};

/** How far a turn may go. There is no limit unless one is set. */
export type TurnLimits = {
  /** How many requests one turn may take. */
  readonly turns: number;
  /** US dollars a session may cost. */
  readonly spend: number;
};

/** How a turn ended. */
type TurnEnd = Extract<AgentEvent, { type: "finished" | "failed" | "cancelled" }>;

/** So often a broken answer is asked for again, and a strange one. */
const maxAgain = 2;

/**
 * Calls of one answer that are run. Models make at most some dozen; each costs milliseconds and some 90 kB while it runs,
 * so that thousands would hold the program for minutes.
 */
const maxCalls = 500;

/** How long calls that only read may run, in milliseconds, before the answer they came with is written down. */
const commitDelayMs = 10;

/**
 * One turn: what the person said, the model's answer, the calls in it, their
 * results, and so on until the model stops. However it ends, the conversation
 * it leaves can be sent to any model.
 */
export class Turn {
  readonly #around: TurnContext;
  readonly #signal: AbortSignal;
  readonly #repeated = new RepeatedCallDetector();
  #requests = 0;
  /** The how-manieth thing the person said in the session this turn answers. */
  #prompt = 0;
  #number = 0;
  #strange = 0;
  #broken = 0;
  #compacted = false;
  #text = "";
  /** The report of the last request that failed. */
  #report: RenderReport | undefined;
  readonly #telling: DurableEventQueue;

  constructor(around: TurnContext, signal: AbortSignal) {
    this.#around = around;
    this.#signal = signal;
    this.#telling = new DurableEventQueue(around);
  }

  async run(input: readonly UserPart[]): Promise<TurnEnd> {
    try {
      this.#listen();
      this.#hear(input);
      this.#prompt = this.#around.journal.ledger.entries.filter(({ type }) => type === "user").length;
      this.#changed(this.#around.router.startTurn());
      for (;;) {
        const end = await this.#step();
        if (end === undefined) continue;
        await this.#telling.flush();
        if (end.type === "finished" && end.reason === "stop" && this.#listen()) continue;
        return end;
      }
    } catch (error) {
      return this.#ended(error);
    }
  }

  /** One request and what follows from its answer; undefined where the turn goes on. */
  async #step(): Promise<TurnEnd | undefined> {
    const {
      journal,
      limits,
      spending,
      window,
      beforeRequest: between,
      inputCheck: inputs,
      router: route,
    } = this.#around;
    if (this.#requests >= limits.turns) return this.#finished("max-turns");
    if (spending.totalCost >= limits.spend) return this.#finished("max-spend");
    if (between !== undefined) {
      await this.#telling.flush();
      await between();
    }
    // A summary may hold files too.
    await inputs?.prepare(route.current, this.#signal);
    if (await window.isFull()) {
      await this.#telling.flush();
      await window.compact(this.#signal);
      await window.assertFits();
    }
    recordDecisions(journal.ledger);
    await this.#around.mediaFetcher?.prepare(route.current, this.#signal);
    const asked = await this.#ask();
    if (asked === undefined) return undefined;
    const end = await this.#take(asked);
    if (this.#signal.aborted) return { type: "cancelled" };
    return end;
  }

  /**
   * The answer to the conversation as it is; undefined where the next request may fare better. The request is put
   * together while the disk is busy, and leaves when all it says is kept.
   */
  async #ask(): Promise<ModelResponse | undefined> {
    const {
      router: route,
      tools,
      transport,
      builder: compositions,
      clock,
      nextRequestNumber: count,
      journal,
      confirm,
      emit: tell,
    } = this.#around;
    this.#requests += 1;
    // It may change while the answer is on its way.
    const model = route.current;
    const kept = this.#telling.flush();
    kept.catch(() => undefined);
    await journal.submitted;
    const settings = await this.#settings(model);
    try {
      this.#number = count();
      const [number, signal] = [this.#number, this.#signal];
      const { sessionId: session } = this.#around;
      const prompt = this.#promptId();
      const asked = sendModelRequest({
        transport,
        builder: compositions,
        model,
        settings,
        number,
        committed: kept,
        clock,
        sessionId: session,
        promptId: prompt,
        confirm,
        emit: tell,
        signal,
      });
      tools.soon();
      return await asked;
    } catch (error) {
      await this.#recover(error, model);
      return undefined;
    }
  }

  /** The settings of the next request: a long conversation leaves less room for the answer. */
  async #settings(model: ModelRef): Promise<RequestSettings> {
    const { settings, window } = this.#around;
    const contextLeft = await window.tokensLeft(model);
    return contextLeft === undefined ? settings : { ...settings, contextLeft };
  }

  /** Finds another way to an answer, or gives up. */
  async #recover(error: unknown, model: ModelRef): Promise<void> {
    const { router: route, emit: tell, window, journal } = this.#around;
    const broken = error instanceof StreamInterruptedError ? error : undefined;
    const cause = broken?.cause ?? error;
    if (!(cause instanceof ProviderError) || cause.failure.kind === "cancelled" || this.#signal.aborted) {
      this.#keepWords(broken, this.#signal.aborted ? "person" : "accident");
      throw cause;
    }
    const { failure } = cause;
    if (failure.kind === "context-too-long" && !this.#compacted) {
      this.#compacted = true;
      await window.recordRefusal(model);
      // The same request would be refused again.
      if (!(await window.compact(this.#signal))) throw cause;
      return;
    }
    if (this.#leaveOutTools(failure)) return;
    if (failure.partial === true && isTransient(failure) && this.#broken < maxAgain) {
      this.#broken += 1;
      tell({ type: "retrying", failure, delay: 0, discarded: true });
      return;
    }
    const change = route.recordFailure(failure, model);
    this.#report = broken?.request?.report;
    if (change === undefined && modelName(route.current) === modelName(model)) {
      this.#keepWords(broken, "accident");
      throw cause;
    }
    if (failure.partial === true) tell({ type: "retrying", failure, delay: 0, discarded: true });
    this.#changed(change);
    await journal.commit();
  }

  /** Leaves out tools whose schema refers to itself, where a request was refused for the depth of a schema. */
  #leaveOutTools(failure: Failure): boolean {
    const { builder: compositions, emit: tell } = this.#around;
    if (failure.kind !== "refused" || !isAboutSchemaDepth(failure.detail ?? "")) return false;
    const { prefix: head } = compositions;
    const cyclic = head.tools.filter(({ parameters }) => hasSchemaCycle(parameters)).map(({ name }) => name);
    if (cyclic.length === 0) return false;
    compositions.replacePrefix({ ...head, tools: head.tools.filter(({ name }) => !cyclic.includes(name)) });
    const them = cyclic.length === 1 ? "that tool" : "those tools";
    const text = `${failure.label} refuses the depth of a tool's schema. The parameters of ${cyclic.join(", ")} refer to themselves; the session goes on without ${them}.`;
    tell({ type: "notice", text });
    return true;
  }

  /** Records an answer, and does what it asks for. */
  async #take(asked: ModelResponse): Promise<TurnEnd | undefined> {
    const { journal } = this.#around;
    const { parts, blobs, finish, request: written, isRepeating: circles } = asked;
    if (finish === "context") return this.#outgrown();
    if (finish === "malformed" || !parts.some(hasContent)) return this.#strangeAnswer(asked);
    const { target } = written.destination;
    const { account } = target;
    journal.addBlobs(blobs);
    const origin = { provider: target.provider, model: target.model, ...(account === undefined ? {} : { account }) };
    const calls = journal.ledger.model(origin, parts, written.digest());
    this.#remember(asked);
    await this.#tellOf(asked);
    this.#broken = 0;
    this.#compacted = false;
    if (!circles && calls.length > 0) return this.#work(calls, finish === "length");
    await this.#telling.flush();
    return this.#finished(circles ? "loop" : finish === "calls" ? "stop" : finish);
  }

  #remember({ request: written, usage }: ModelResponse): void {
    const { journal, window } = this.#around;
    const { target } = written.destination;
    const { length: entries } = journal.ledger.entries;
    if (usage !== undefined) window.recordUsage(usage.input + usage.output, entries);
    journal.appendMetadata({
      kind: "request",
      turn: this.#number,
      provider: target.provider,
      model: target.model,
      digest: written.digest(),
      notes: written.notes,
      ...(usage === undefined ? {} : { usage }),
    });
  }

  async #tellOf({ parts, usage, model, answeredBy }: ModelResponse): Promise<void> {
    const { spending } = this.#around;
    const text = joinText(parts, "text");
    if (text !== "") this.#text = text;
    const media = parts.filter((part) => part.type === "media");
    this.#telling.emitAfterCommit({ type: "message", text, thought: joinText(parts, "thinking"), media });
    if (usage === undefined) return;
    const [spent, by] = [await spending.add(model, usage), answeredBy === undefined ? {} : { answeredBy }];
    this.#telling.emitAfterCommit({ type: "usage", model: modelName(model), ...by, usage, spent });
  }

  /**
   * Runs the calls of an answer as one batch. The answer is written down before any of them is asked about or does
   * something, and a moment later in any case; calls that only read have mostly ended by then, and it is all one writing.
   */
  async #work(requested: readonly Call[], isCut: boolean): Promise<TurnEnd | undefined> {
    const { journal, tools, beforeCalls: prepare, clock } = this.#around;
    const calls = isCut ? requested : requested.slice(0, maxCalls);
    for (const call of requested) this.#requestCall(call);
    // The last of them may have been cut short, and who knows which is the last.
    if (isCut) return this.#leave(calls, truncatedCallResult);
    if (requested.length > maxCalls) await this.#leave(requested.slice(maxCalls), excessCallResult(maxCalls));
    if (this.#repeated.isRepeating(calls) && !(await this.#mayRepeat(calls))) {
      await this.#leave(calls, repeatedCallResult);
      return this.#finished("loop");
    }
    const scheduler = await tools.open();
    if (prepare !== undefined) {
      await this.#telling.flush();
      await prepare(calls, this.#signal);
    }
    let recorded: Promise<void> | undefined;
    const record = (): Promise<void> => (recorded ??= this.#telling.commitInBackground());
    const inTime = clock.after(commitDelayMs, record);
    const stop = scheduler.listen((event) => {
      if (event.type === "call-output") return this.#telling.emit(event);
      const { call, status } = event;
      if (!("finished" in status)) return this.#telling.emit({ type: "call-updated", call, status });
      const { finished } = status;
      journal.addBlobs(finished.blobs);
      journal.ledger.complete(call, finished.call.tool, finished.outcome);
      this.#completeCall(finished);
      void this.#telling.commitInBackground();
    });
    try {
      await scheduler.schedule(calls, this.#signal, record);
    } finally {
      inTime();
      stop();
    }
    if (this.#signal.aborted) return { type: "cancelled" };
    this.#repeated.add(
      calls,
      calls.map(({ id }) => journal.ledger.interaction(id)?.outcome),
    );
    this.#listen();
    return undefined;
  }

  /** Names the prompt this turn answers, the same in every run of the session. */
  #promptId(): string | undefined {
    const { sessionId: session } = this.#around;
    return session === undefined ? undefined : `${session}#${this.#prompt}`;
  }

  #requestCall(call: Call): void {
    const promptId = this.#promptId();
    // The model makes every call; what the program itself reads or runs is no part of a turn.
    const event = { type: "call-requested", call, isClientInitiated: false } as const;
    this.#telling.emitAfterCommit(promptId === undefined ? event : { ...event, promptId });
  }

  #completeCall(finished: FinishedCall): void {
    const prompt_id = this.#promptId();
    const record = prompt_id === undefined ? finished.record : { ...finished.record, prompt_id };
    this.#telling.emitAfterCommit({ type: "call-completed", finished: { ...finished, record } });
  }

  /** Asks the person whether calls may be repeated once more; no where there is no person. */
  async #mayRepeat(calls: readonly Call[]): Promise<boolean> {
    const { confirm } = this.#around;
    if (confirm === undefined) return false;
    await this.#telling.flush();
    const tools = [...new Set(calls.map(({ tool }) => tool))].join(", ");
    const question = `The model keeps making the same calls (${tools}) without a new result. Let it continue?`;
    if (!(await confirm(question, this.#signal))) return false;
    this.#repeated.reset();
    return true;
  }

  /** Ends calls that are not run. */
  async #leave(calls: readonly Call[], why: string): Promise<undefined> {
    for (const call of calls) {
      const finished = skippedCallResult(call, why);
      this.#around.journal.ledger.complete(call.id, call.tool, finished.outcome);
      this.#completeCall(finished);
    }
    await this.#telling.commit();
  }

  /** Takes in what the person said while the model was busy. True where there was something. */
  #listen(): boolean {
    const words = this.#around.takeQueuedMessages();
    for (const parts of words) this.#hear(parts);
    return words.length > 0;
  }

  #hear(parts: readonly UserPart[]): void {
    if (parts.length === 0) return;
    this.#around.journal.ledger.user(parts);
    this.#repeated.reset();
    this.#telling.emitAfterCommit({ type: "user", parts });
  }

  async #outgrown(): Promise<TurnEnd | undefined> {
    const { window, router: route } = this.#around;
    if (this.#compacted) return this.#finished("length");
    this.#compacted = true;
    await window.recordRefusal(route.current);
    return (await window.compact(this.#signal)) ? undefined : this.#finished("length");
  }

  /** Some models now and then say nothing, or write a call nobody can read. A word helps more often than not. */
  #strangeAnswer({ finish, model }: ModelResponse): TurnEnd | undefined {
    this.#strange += 1;
    if (this.#strange > maxAgain)
      return {
        type: "failed",
        failure: {
          kind: "no-answer",
          message: `${modelName(model)} gave no answer that can be used. Try again, or use another model.`,
        },
      };
    this.#around.journal.ledger.notice(finish === "malformed" ? unreadableCallNotice : emptyAnswerNotice);
    return undefined;
  }

  /** What was said before an answer broke off was heard, so it is part of what happened. */
  #keepWords(broken: StreamInterruptedError | undefined, by: "person" | "accident"): void {
    if (broken?.request === undefined || broken.text.trim() === "") return;
    const { provider, model } = broken.request.destination.target;
    const { ledger } = this.#around.journal;
    ledger.model({ provider, model }, [{ type: "text", text: broken.text }]);
    ledger.notice(interruptedAnswerNotice[by]);
  }

  #changed(change: ModelChange | undefined): void {
    if (change === undefined) return;
    const { journal, emit: tell } = this.#around;
    const { from, to, reason } = change;
    journal.appendMetadata({ kind: "model", provider: to.provider.id, model: to.model, reason: reason.type });
    tell({ type: "model-changed", from: modelName(from), to: modelName(to), reason });
  }

  #finished(reason: EndReason): TurnEnd {
    return { type: "finished", reason, text: this.#text };
  }

  async #ended(error: unknown): Promise<TurnEnd> {
    const failed = (failure: AgentFailure): TurnEnd => ({ type: "failed", failure });
    const unsaved = await this.#telling.flushFinal().catch((reason: unknown) => reason);
    if (isSessionError(unsaved)) return failed({ kind: "storage", message: unsaved.message });
    if (this.#signal.aborted) return { type: "cancelled" };
    if (error instanceof ProviderError)
      return error.failure.kind === "cancelled"
        ? { type: "cancelled" }
        : failed({
            kind: "provider",
            failure: error.failure,
            message: error.message,
            ...(error.failure.kind === "refused" && this.#report !== undefined ? { report: this.#report } : {}),
          });
    if (error instanceof ContextOverflowError) return failed({ kind: "context", message: error.message });
    if (error instanceof UnsupportedMediaError) return failed({ kind: "media", message: error.message });
    if (isSessionError(error)) return failed({ kind: "storage", message: error.message });
    throw error;
  }
}

/** As Google, Vertex and others say it. */
const isAboutSchemaDepth = (said: string): boolean =>
  /schema.{0,60}(depth|too deep|deeply|recursi|cycl|circular)|(depth|recursi\w*|cycl\w*|nest\w*).{0,60}schema/i.test(
    said,
  );

/** By name: the class comes with all of the store. */
const isSessionError = (error: unknown): error is Error => error instanceof Error && error.name === "SessionError";

const hasContent = (part: NewPart): boolean =>
  part.type === "call" ||
  part.type === "media" ||
  ((part.type === "text" || part.type === "code") && /\S/.test(part.text));

const joinText = (parts: readonly NewPart[], type: "text" | "thinking"): string =>
  parts.map((part) => (part.type === type ? part.text : "")).join("");

/** Whether asking again may simply work. */
const isTransient = (failure: Failure): boolean =>
  (failure.kind === "time-out" && failure.phase !== "whole") ||
  ["stream-cut", "network", "overloaded", "malformed-stream"].includes(failure.kind);
