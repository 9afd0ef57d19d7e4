import type { Call, CallId } from "../conversation/parts.ts";
import type { PermissionGate } from "../policy/gate/create.ts";
import type { CreateCapabilities } from "./capabilities.ts";
import type { SchedulerClock } from "./clock.ts";
import { readDecision } from "./approval/read-decision.ts";
import { resultFromError, type CallCompletion } from "./result/call-result.ts";
import type { ApprovalRequest, CallStatus, ApprovalDecision, FinishedCall, SchedulerEvent } from "./events.ts";
import { finishCall } from "./result/finish.ts";
import { runCall, type CallContext } from "./call/run-call.ts";
import { ActiveCall } from "./call/active-call.ts";
import type { ToolRegistry } from "./registry.ts";
import { Slots } from "./call/slots.ts";

export type SchedulerOptions = {
  readonly tools: ToolRegistry;
  readonly gate: PermissionGate;
  readonly capabilities: CreateCapabilities;
  readonly clock: SchedulerClock;
  /** Redacts secrets in displays and records. */
  readonly redactor?: { readonly redact: (text: string) => string };
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
   * Runs the calls of a model's response. Resolves with exactly one result per call, in call order; never rejects. Has
   * the calls recorded (`record`) before it asks the user or causes any side effect; does neither if recording fails.
   */
  readonly schedule: (
    batch: readonly Call[],
    signal?: AbortSignal,
    record?: () => Promise<void>,
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
    schedule: async (batch, signal, recordRequest = recordNothing) => {
      const calls = activateBatch(batch, recordRequest, options, state);
      const stop = (): void => calls.forEach((active) => active.stop(false));
      if (signal?.aborted === true) stop();
      signal?.addEventListener("abort", stop, { once: true });
      const finished = await Promise.all(calls.map((active) => runToEnd(active, context, state)));
      signal?.removeEventListener("abort", stop);
      return finished;
    },
    reconsider: () => reconsiderPending(options, state),
    decide: (call, answer) => applyAnswer(call, readDecision(answer), state),
    pendingApprovals: () =>
      state.activeCalls.flatMap(({ call, pendingApproval }) =>
        pendingApproval === undefined ? [] : [{ call: call.id, approval: pendingApproval.approval }],
      ),
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
  const { tools, gate, capabilities, clock, limits } = options;
  const { activeCalls, emit, redact } = state;
  return {
    tools,
    gate,
    capabilities,
    clock,
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
  recordRequest: () => Promise<void>,
  { clock }: SchedulerOptions,
  { activeCalls, emit }: SchedulerState,
): readonly ActiveCall[] => {
  const calls: ActiveCall[] = [];
  for (const call of batch) {
    const onStatus = (status: CallStatus): void => emit({ type: "call-changed", call: call.id, status });
    calls.push(new ActiveCall({ call, batch: calls, recordRequest, startedAt: clock.elapsed(), onStatus }));
  }
  activeCalls.push(...calls);
  return calls;
};

/** Runs a call, converts its result, and removes it from the active ones. */
const runToEnd = async (active: ActiveCall, context: CallContext, state: SchedulerState): Promise<FinishedCall> => {
  const finished = await finishActive(active, await runCall(active, context), context, state);
  state.activeCalls.splice(state.activeCalls.indexOf(active), 1);
  active.setStatus({ state: stateOf(finished), finished });
  active.end();
  return finished;
};

const finishActive = async (
  active: ActiveCall,
  result: CallCompletion,
  { capabilities, clock }: CallContext,
  { redact }: SchedulerState,
): Promise<FinishedCall> => {
  const { call, decision, denial, server, startedAt, approvalWaitMs } = active;
  const { files } = capabilities({ signal: active.signal, report: () => undefined });
  const end = { call, decision, denial, server, files, redact, duration: clock.elapsed() - startedAt - approvalWaitMs };
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

const recordNothing = (): Promise<void> => Promise.resolve();

const states: { readonly [status in FinishedCall["outcome"]["status"]]: "success" | "error" | "cancelled" } = {
  complete: "success",
  error: "error",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

const stateOf = ({ outcome }: FinishedCall): "success" | "error" | "cancelled" => states[outcome.status];
