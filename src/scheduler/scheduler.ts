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
  /** Takes secrets out of what is shown and recorded. */
  readonly redactor?: { readonly redact: (text: string) => string };
  readonly limits: {
    /** How many commands run at once. */
    readonly processes: number;
    /** How long a tool may take, in milliseconds. */
    readonly toolTime: number;
  };
};

/** Takes batches of calls from request to completion, for as long as a session lives. */
export type Scheduler = {
  /**
   * Runs the calls of a model's turn. Answers with exactly one end per call, in call order; never rejects. Has what it
   * was asked for recorded before it asks anybody, or does anything that leaves a trace; neither is done if that fails.
   */
  readonly schedule: (
    batch: readonly Call[],
    signal?: AbortSignal,
    record?: () => Promise<void>,
  ) => Promise<readonly FinishedCall[]>;
  /** Answers a question; an answer that is not a known decision refuses the call. False where this call does not wait for one. */
  readonly decide: (call: CallId, decision: ApprovalDecision) => boolean;
  /** The questions that wait, in call order. */
  readonly pendingApprovals: () => readonly { readonly call: CallId; readonly approval: ApprovalRequest }[];
  /** Puts the waiting questions to the gate again, after its mode changed. */
  readonly reconsider: () => Promise<void>;
  /** The person ends everything that has not ended. Settles when nothing runs. */
  readonly cancel: () => Promise<void>;
  /** Hears everything that happens from now on; answers how to stop. */
  readonly listen: (listener: (event: SchedulerEvent) => void) => () => void;
};

/** A scheduler for one conversation. Call ids are unique in it. */
export const createScheduler = ({
  tools,
  gate,
  capabilities,
  clock,
  redactor,
  limits,
}: SchedulerOptions): Scheduler => {
  const listeners = new Set<(event: SchedulerEvent) => void>();
  const lives: ActiveCall[] = [];
  const redact = redactor?.redact ?? ((text: string): string => text);
  const tell = (event: SchedulerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const reconsider = async (): Promise<void> => {
    await Promise.all(
      lives.map(async ({ pendingApproval: waiting }) => {
        const verdict = waiting && (await gate.judge(waiting.request));
        if (verdict !== undefined && verdict.decision !== "ask") waiting?.answer({ type: "judged", verdict });
      }),
    );
  };
  const around: CallContext = {
    tools,
    gate,
    capabilities,
    clock,
    toolTimeLimit: limits.toolTime,
    slots: new Slots(limits.processes),
    earlierCalls: (one) => lives.slice(0, Math.max(0, lives.indexOf(one))),
    onRuleAdded: () => void reconsider(),
    onOutput: (one, text) => tell({ type: "call-output", call: one.call.id, text: redact(text) }),
  };
  const run = async (one: ActiveCall): Promise<FinishedCall> => {
    const ending = await runCall(one, around);
    const finished = await finishedBy(one, ending);
    lives.splice(lives.indexOf(one), 1);
    one.setStatus({ state: stateOf(finished), finished });
    one.end();
    return finished;
  };
  const finishedBy = async (one: ActiveCall, ending: CallCompletion): Promise<FinishedCall> => {
    const { call, decision, denial, server, startedAt: began } = one;
    const { files } = capabilities({ signal: one.signal, report: () => undefined });
    const end = { call, decision, denial, server, files, redact, duration: clock.elapsed() - began };
    // A result can hold values that throw when they are read.
    return finishCall({ ...end, result: ending }).catch((error: unknown) =>
      finishCall({ ...end, result: resultFromError(error) }),
    );
  };
  const schedule: Scheduler["schedule"] = async (batch, signal, record = recordNothing) => {
    const calls: ActiveCall[] = [];
    for (const call of batch) {
      const changed = (status: CallStatus): void => tell({ type: "call-changed", call: call.id, status });
      calls.push(
        new ActiveCall({ call, batch: calls, recordRequest: record, startedAt: clock.elapsed(), onStatus: changed }),
      );
    }
    lives.push(...calls);
    const stop = (): void => calls.forEach((one) => one.stop(false));
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
      const one = lives.find(({ call: { id }, pendingApproval: waiting }) => id === call && waiting !== undefined);
      if (decision.type === "cancel") for (const each of one?.batch ?? []) each.stop(true);
      else one?.pendingApproval?.answer(decision);
      return one !== undefined;
    },
    pendingApprovals: () =>
      lives.flatMap(({ call, pendingApproval: waiting }) =>
        waiting === undefined ? [] : [{ call: call.id, approval: waiting.approval }],
      ),
    cancel: async () => {
      for (const one of lives) one.stop(true);
      await Promise.all(lives.map(({ ended }) => ended));
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
