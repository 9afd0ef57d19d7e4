import type { Call, CallId } from "../conversation/parts.ts";
import type { Gate } from "../policy/gate.ts";
import type { CapabilitiesFor } from "./capabilities.ts";
import type { SchedulerClock } from "./clock.ts";
import { readDecision } from "./decision.ts";
import { thrown, type Ending } from "./ending.ts";
import type { Approval, CallStatus, Decision, Finished, SchedulerEvent } from "./events.ts";
import { finish } from "./finish.ts";
import { live, type Surroundings } from "./life.ts";
import { LiveCall } from "./live-call.ts";
import type { ToolRegistry } from "./registry.ts";
import { Slots } from "./slots.ts";

export type SchedulerOptions = {
  readonly tools: ToolRegistry;
  readonly gate: Gate;
  readonly capabilities: CapabilitiesFor;
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
  ) => Promise<readonly Finished[]>;
  /** Answers a question; an answer that is not a known decision refuses the call. False where this call does not wait for one. */
  readonly decide: (call: CallId, decision: Decision) => boolean;
  /** The questions that wait, in call order. */
  readonly waiting: () => readonly { readonly call: CallId; readonly approval: Approval }[];
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
  const lives: LiveCall[] = [];
  const redact = redactor?.redact ?? ((text: string): string => text);
  const tell = (event: SchedulerEvent): void => {
    for (const listener of listeners) listener(event);
  };
  const reconsider = async (): Promise<void> => {
    await Promise.all(
      lives.map(async ({ waiting }) => {
        const verdict = waiting && (await gate.judge(waiting.request));
        if (verdict !== undefined && verdict.decision !== "ask") waiting?.answer({ type: "judged", verdict });
      }),
    );
  };
  const around: Surroundings = {
    tools,
    gate,
    capabilities,
    clock,
    toolTime: limits.toolTime,
    slots: new Slots(limits.processes),
    earlier: (one) => lives.slice(0, Math.max(0, lives.indexOf(one))),
    remembered: () => void reconsider(),
    tell: (one, text) => tell({ type: "call-output", call: one.call.id, text: redact(text) }),
  };
  const run = async (one: LiveCall): Promise<Finished> => {
    const ending = await live(one, around);
    const finished = await finishedBy(one, ending);
    lives.splice(lives.indexOf(one), 1);
    one.changed({ state: stateOf(finished), finished });
    one.end();
    return finished;
  };
  const finishedBy = async (one: LiveCall, ending: Ending): Promise<Finished> => {
    const { call, decision, denial, server, began } = one;
    const { files } = capabilities({ signal: one.signal, report: () => undefined });
    const end = { call, decision, denial, server, files, redact, duration: clock.elapsed() - began };
    // A result can hold values that throw when they are read.
    return finish({ ...end, ending }).catch((error: unknown) => finish({ ...end, ending: thrown(error) }));
  };
  const schedule: Scheduler["schedule"] = async (batch, signal, record = nothing) => {
    const calls: LiveCall[] = [];
    for (const call of batch) {
      const changed = (status: CallStatus): void => tell({ type: "call-changed", call: call.id, status });
      calls.push(new LiveCall({ call, batch: calls, record, began: clock.elapsed(), tell: changed }));
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
      const one = lives.find(({ call: { id }, waiting }) => id === call && waiting !== undefined);
      if (decision.type === "cancel") for (const each of one?.batch ?? []) each.stop(true);
      else one?.waiting?.answer(decision);
      return one !== undefined;
    },
    waiting: () =>
      lives.flatMap(({ call, waiting }) =>
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

const nothing = (): Promise<void> => Promise.resolve();

const states: { readonly [status in Finished["outcome"]["status"]]: "success" | "error" | "cancelled" } = {
  complete: "success",
  error: "error",
  cancelled: "cancelled",
  interrupted: "cancelled",
};

const stateOf = ({ outcome }: Finished): "success" | "error" | "cancelled" => states[outcome.status];
