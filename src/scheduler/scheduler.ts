import type { Call, CallId } from "../conversation/parts.ts";
import type { PermissionGate } from "../policy/gate/create.ts";
import type { CreateCapabilities } from "./capabilities.ts";
import type { CallHooks } from "./call-hooks.ts";
import type { SchedulerClock } from "./clock.ts";
import { readDecision } from "./approval/read-decision.ts";
import { resultFromError, type CallCompletion } from "./result/call-result.ts";
import type { ApprovalRequest, CallStatus, ApprovalDecision, FinishedCall, SchedulerEvent } from "./events.ts";
import { finishCall } from "./result/finish.ts";
import { runCall, type CallContext } from "./call/run-call.ts";
import { ActiveCall } from "./call/active-call.ts";
import type { ToolRegistry } from "./registry.ts";
import { noRecorder, type CallRecorder } from "./call/recorder.ts";
import { Slots } from "./call/slots.ts";

export type SchedulerOptions = {
  readonly tools: ToolRegistry;
  readonly gate: PermissionGate;
  readonly capabilities: CreateCapabilities;
  readonly clock: SchedulerClock;
  /** Redacts secrets in displays and records. */
  readonly redactor?: { readonly redact: (text: string) => string };
  /** Hooks around calls, if any are configured. */
  readonly hooks?: CallHooks | undefined;
  readonly limits: {
    /** Commands that run at the same time. */
    readonly processes: number;
    /** Milliseconds a tool may take. */
    readonly toolTime: number;
  };
};

/** Runs batches of tool calls, for as long as a session lives. */
export type Scheduler = {
  /**
   * Runs the calls of a model's response. Resolves with exactly one result per call, in call order, except of calls set
   * aside by `park`; never rejects. Has the calls recorded before it asks the user or causes any side effect; does neither
   * if recording fails.
   */
  readonly schedule: (
    batch: readonly Call[],
    signal?: AbortSignal,
    recorder?: CallRecorder,
  ) => Promise<readonly FinishedCall[]>;
  /**
   * Answers an approval request; an answer that is not a known decision refuses the call. Returns false where this call
   * awaits none.
   */
  readonly decide: (call: CallId, decision: ApprovalDecision) => boolean;
  /** The approval requests that wait, in call order. */
  readonly pendingApprovals: () => readonly { readonly call: CallId; readonly approval: ApprovalRequest }[];
  /** Asks the gate again about pending approvals, after its mode changed. */
  readonly reconsider: () => Promise<void>;
  /** Sets aside every call that waits for the user, and those that must follow it. Settles when nothing runs. */
  readonly park: () => Promise<void>;
  /** Cancels every call on behalf of the user. Settles when nothing runs. */
  readonly cancel: () => Promise<void>;
  /** Calls a listener for every event from now on; returns a function that stops it. */
  readonly listen: (listener: (event: SchedulerEvent) => void) => () => void;
};

/** Creates the scheduler of one conversation. Call ids are unique in it. */
export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const state = createState(options);
  const context = createCallContext(options, state);
  return {
    schedule: async (batch, signal, recorder = noRecorder) => {
      const calls = activateBatch(batch, recorder, options, state);
      const stop = (): void => calls.forEach((active) => active.stop(false));
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop, { once: true });
      const finished = await Promise.all(calls.map((active) => runToEnd(active, context, state)));
      signal?.removeEventListener("abort", stop);
      return finished.filter((each) => each !== "parked");
    },
    reconsider: () => reconsiderPending(options, state),
    decide: (call, answer) => applyAnswer(call, readDecision(answer), state),
    pendingApprovals: () =>
      state.activeCalls.flatMap(({ call, pendingApproval }) =>
        pendingApproval === undefined ? [] : [{ call: call.id, approval: pendingApproval.approval }],
      ),
    park: async () => {
      for (const active of state.activeCalls) active.park();
      await Promise.all(state.activeCalls.map(({ ended }) => ended));
    },
    cancel: async () => {
      for (const active of state.activeCalls) active.stop(true);
      await Promise.all(state.activeCalls.map(({ ended }) => ended));
    },
    listen: (listener) => {
      state.listeners.add(listener);
      return () => void state.listeners.delete(listener);
    },
  };
};

/** The mutable state of one scheduler. */
type SchedulerState = {
  /** The calls that have not ended, in order of arrival. */
  readonly activeCalls: ActiveCall[];
  readonly listeners: Set<(event: SchedulerEvent) => void>;
  readonly emit: (event: SchedulerEvent) => void;
  readonly redact: (text: string) => string;
};

const createState = ({ redactor }: SchedulerOptions): SchedulerState => {
  const listeners = new Set<(event: SchedulerEvent) => void>();
  return {
    activeCalls: [],
    listeners,
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    redact: redactor?.redact ?? ((text) => text),
  };
};

const createCallContext = (options: SchedulerOptions, state: SchedulerState): CallContext => {
  const { tools, gate, capabilities, clock, hooks, limits } = options;
  const { activeCalls, emit, redact } = state;
  return {
    tools,
    gate,
    capabilities,
    clock,
    hooks,
    toolTimeLimit: limits.toolTime,
    slots: new Slots(limits.processes),
    earlierCalls: (active) => activeCalls.slice(0, Math.max(0, activeCalls.indexOf(active))),
    onRulesAdded: (added) => {
      emit({ type: "permission-added", ...added });
      void reconsiderPending(options, state);
    },
    onOutput: (active, text) => emit({ type: "call-output", call: active.call.id, text: redact(text) }),
  };
};

/** Adds the calls of a batch to the active ones. */
const activateBatch = (
  batch: readonly Call[],
  recorder: CallRecorder,
  { clock }: SchedulerOptions,
  { activeCalls, emit }: SchedulerState,
): readonly ActiveCall[] => {
  const calls: ActiveCall[] = [];
  for (const call of batch) {
    const onStatus = (status: CallStatus): void => emit({ type: "call-changed", call: call.id, status });
    calls.push(new ActiveCall({ call, batch: calls, recorder, startedAt: clock.elapsed(), onStatus }));
  }
  activeCalls.push(...calls);
  return calls;
};

/** Runs a call, converts its result, and removes it from the active ones. */
const runToEnd = async (
  active: ActiveCall,
  context: CallContext,
  state: SchedulerState,
): Promise<FinishedCall | "parked"> => {
  const completion = await runCall(active, context);
  if (active.ranAs !== undefined && completion !== "parked") await reportRun(active, completion, context);
  const finished = completion === "parked" ? completion : await finishActive(active, completion, context, state);
  state.activeCalls.splice(state.activeCalls.indexOf(active), 1);
  if (finished !== "parked") active.setStatus({ state: stateOf(finished), finished });
  active.end(finished === "parked" ? finished : "finished");
  return finished;
};

/** Passes the end of a call that ran to the hooks. */
const reportRun = async (
  { ranAs, signal, startedAt, approvalWaitMs }: ActiveCall,
  { state, content, error }: CallCompletion,
  { hooks, clock }: CallContext,
): Promise<void> => {
  if (hooks === undefined || ranAs === undefined) return;
  const durationMs = clock.elapsed() - startedAt - approvalWaitMs;
  const result = { state, content, durationMs, ...(error === undefined ? {} : { error: error.message }) };
  // A call that was cancelled is reported all the same.
  await hooks.afterCall(ranAs, result, signal.aborted ? new AbortController().signal : signal);
};

const finishActive = async (
  active: ActiveCall,
  result: CallCompletion,
  { capabilities, clock }: CallContext,
  { redact }: SchedulerState,
): Promise<FinishedCall> => {
  const { call, decision, denial, server, startedAt, approvalWaitMs, changedInput } = active;
  const { files } = capabilities({ signal: active.signal, report: () => undefined });
  const end = {
    call,
    decision,
    denial,
    server,
    changedInput,
    files,
    redact,
    duration: clock.elapsed() - startedAt - approvalWaitMs,
  };
  // A result can contain values that throw when they are read.
  return finishCall({ ...end, result }).catch((error: unknown) =>
    finishCall({ ...end, result: resultFromError(error) }),
  );
};

/** Asks the gate again about every pending approval, and answers those it decides now. */
const reconsiderPending = async ({ gate }: SchedulerOptions, { activeCalls }: SchedulerState): Promise<void> => {
  await Promise.all(
    activeCalls.map(async ({ pendingApproval }) => {
      const verdict = pendingApproval && (await gate.judge(pendingApproval.request));
      if (verdict !== undefined && verdict.decision !== "ask") pendingApproval?.answer({ type: "judged", verdict });
    }),
  );
};

/** Applies the user's answer; "cancel" stops the whole batch. Returns false where the call awaits none. */
const applyAnswer = (id: CallId, decision: ApprovalDecision, { activeCalls }: SchedulerState): boolean => {
  const active = activeCalls.find(({ call, pendingApproval }) => call.id === id && pendingApproval !== undefined);
  if (decision.type === "cancel") for (const each of active?.batch ?? []) each.stop(true);
  else active?.pendingApproval?.answer(decision);
  return active !== undefined;
};

const states: { readonly [status in FinishedCall["outcome"]["status"]]: "success" | "error" | "cancelled" } = {
  complete: "success",
  error: "error",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

const stateOf = ({ outcome }: FinishedCall): "success" | "error" | "cancelled" => states[outcome.status];
