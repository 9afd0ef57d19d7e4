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
export const createScheduler = ({
  tools,
  gate,
  capabilities,
  clock,
  redactor,
  limits,
}: SchedulerOptions): Scheduler => {
  const listeners = new Set<(event: SchedulerEvent) => void>();
  const activeCalls: ActiveCall[] = [];
  const redact = redactor?.redact ?? ((text: string): string => text);
  const emit = (event: SchedulerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const reconsider = async (): Promise<void> => {
    await Promise.all(
      activeCalls.map(async ({ pendingApproval }) => {
        const verdict = pendingApproval && (await gate.judge(pendingApproval.request));
        if (verdict !== undefined && verdict.decision !== "ask") pendingApproval?.answer({ type: "judged", verdict });
      }),
    );
  };
  const context: CallContext = {
    tools,
    gate,
    capabilities,
    clock,
    toolTimeLimit: limits.toolTime,
    slots: new Slots(limits.processes),
    earlierCalls: (active) => activeCalls.slice(0, Math.max(0, activeCalls.indexOf(active))),
    onRuleAdded: () => void reconsider(),
    onOutput: (active, text) => emit({ type: "call-output", call: active.call.id, text: redact(text) }),
  };
  const run = async (active: ActiveCall): Promise<FinishedCall> => {
    const ending = await runCall(active, context);
    const finished = await finishedBy(active, ending);
    activeCalls.splice(activeCalls.indexOf(active), 1);
    active.setStatus({ state: stateOf(finished), finished });
    active.end();
    return finished;
  };
  const finishedBy = async (active: ActiveCall, result: CallCompletion): Promise<FinishedCall> => {
    const { call, decision, denial, server, startedAt } = active;
    const { files } = capabilities({ signal: active.signal, report: () => undefined });
    const end = { call, decision, denial, server, files, redact, duration: clock.elapsed() - startedAt };
    // A result can contain values that throw when they are read.
    return finishCall({ ...end, result }).catch((error: unknown) =>
      finishCall({ ...end, result: resultFromError(error) }),
    );
  };
  const schedule: Scheduler["schedule"] = async (batch, signal, recordRequest = recordNothing) => {
    const calls: ActiveCall[] = [];
    for (const call of batch) {
      const changed = (status: CallStatus): void => emit({ type: "call-changed", call: call.id, status });
      calls.push(new ActiveCall({ call, batch: calls, recordRequest, startedAt: clock.elapsed(), onStatus: changed }));
    }
    activeCalls.push(...calls);
    const stop = (): void => calls.forEach((active) => active.stop(false));
    if (signal?.aborted === true) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const finished = await Promise.all(calls.map(run));
    signal?.removeEventListener("abort", stop);
    return finished;
  };
  return {
    schedule,
    reconsider,
    decide: (call, answer) => {
      const decision = readDecision(answer);
      const active = activeCalls.find(
        ({ call: { id }, pendingApproval }) => id === call && pendingApproval !== undefined,
      );
      if (decision.type === "cancel") for (const each of active?.batch ?? []) each.stop(true);
      else active?.pendingApproval?.answer(decision);
      return active !== undefined;
    },
    pendingApprovals: () =>
      activeCalls.flatMap(({ call, pendingApproval }) =>
        pendingApproval === undefined ? [] : [{ call: call.id, approval: pendingApproval.approval }],
      ),
    cancel: async () => {
      for (const active of activeCalls) active.stop(true);
      await Promise.all(activeCalls.map(({ ended }) => ended));
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
};

const recordNothing = (): Promise<void> => Promise.resolve();

const states: { readonly [status in FinishedCall["outcome"]["status"]]: "success" | "error" | "cancelled" } = {
  complete: "success",
  error: "error",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

const stateOf = ({ outcome }: FinishedCall): "success" | "error" | "cancelled" => states[outcome.status];
