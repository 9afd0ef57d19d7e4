import { setMaxListeners } from "node:events";
import type { JsonObject } from "../../conversation/json.ts";
import type { Call } from "../../conversation/parts.ts";
import type { PermissionVerdict } from "../../policy/gate/create.ts";
import type { GateRequest } from "../../policy/gate/request.ts";
import type { ApprovalRequest, CallDecision, CallStatus, ApprovalDecision, CallDenial } from "../events.ts";
import type { ResolvedResources } from "./resolve-resources.ts";
import type { HookedCall } from "../call-hooks.ts";
import type { CallRecorder } from "./recorder.ts";
import { CallParkedError, CallStoppedError, untilAborted } from "./stop.ts";

/** An answer to an approval request: the user's, or the gate's after its rules or mode changed. */
export type ApprovalAnswer =
  | Exclude<ApprovalDecision, { type: "cancel" }>
  | { readonly type: "judged"; readonly verdict: PermissionVerdict };

/** An approval request that waits for an answer. */
export type PendingCallApproval = {
  readonly approval: ApprovalRequest;
  readonly request: GateRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
  /** Ends the wait without an answer. */
  readonly park: () => void;
};

/** A tool call requested by a model. */
export type RequestedCall = Pick<ActiveCall, "call" | "batch" | "recorder" | "startedAt"> & {
  readonly onStatus: (status: CallStatus) => void;
};

/** Whether a call has a result, or was set aside before it began. */
type CallEnd = "finished" | "parked";

/** A call between request and end. */
export class ActiveCall {
  readonly call: Call;
  /** All calls of its batch, including itself. */
  readonly batch: readonly ActiveCall[];
  readonly recorder: CallRecorder;
  /** Settles when the resources it touches are known, or never will be. */
  readonly resourcesKnown: Promise<void>;
  readonly ended: Promise<CallEnd>;
  readonly startedAt: number;
  resources: ResolvedResources | undefined;
  decision: CallDecision | undefined;
  denial: CallDenial | undefined;
  server: string | undefined;
  /** The decision of hooks, for the gate. */
  hook: GateRequest["hook"];
  /** The arguments that hooks set instead of the model's. */
  changedInput: JsonObject | undefined;
  /** Whether the hooks for approvals have been asked. */
  hasAskedHooks = false;
  /** The call as it ran, for hooks; undefined if it did not run. */
  ranAs: HookedCall | undefined;
  pendingApproval: PendingCallApproval | undefined;
  /** Whether the call is to be set aside instead of waiting for the user. */
  isParked = false;
  /** Milliseconds it waited for answers of the user. */
  approvalWaitMs = 0;
  #isSetAside = false;
  readonly #stop = new AbortController();
  readonly #onStatus: (status: CallStatus) => void;
  #resolveResources: () => void = () => {};
  #end: (how: CallEnd) => void = () => {};

  constructor({ call, batch, recorder, startedAt, onStatus }: RequestedCall) {
    this.call = call;
    this.batch = batch;
    this.recorder = recorder;
    this.startedAt = startedAt;
    this.#onStatus = onStatus;
    this.resourcesKnown = new Promise((resolve) => (this.#resolveResources = resolve));
    this.ended = new Promise((resolve) => (this.#end = resolve));
    setMaxListeners(0, this.signal);
  }

  /** Aborted with `CallStoppedError`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  setResources(resolved: ResolvedResources): void {
    this.resources = resolved;
    this.#resolveResources();
  }

  setStatus(status: CallStatus): void {
    this.#onStatus(status);
  }

  stop(byPerson: boolean): void {
    if (!this.#isSetAside) this.#stop.abort(new CallStoppedError(byPerson));
  }

  /** Sets the call aside if it waits for the user, or as soon as it would. Once set aside, it can no longer be stopped. */
  park(): void {
    this.isParked = true;
    if (this.pendingApproval === undefined) return;
    this.#isSetAside = true;
    this.pendingApproval.park();
  }

  /**
   * Requests approval and waits for the answer. Both are recorded: the question before the user sees it, the answer
   * before the call begins. The request is pending before listeners hear of it, so they can answer at once.
   */
  async ask(approval: ApprovalRequest, request: GateRequest): Promise<ApprovalAnswer> {
    const { id } = this.call;
    await untilAborted(this.signal, this.recorder.recordQuestion(id, approval));
    if (this.isParked) throw new CallParkedError();
    const answered = new Promise<ApprovalAnswer>((answer, reject) => {
      this.pendingApproval = { approval, request, answer, park: () => reject(new CallParkedError()) };
    });
    let answer: ApprovalAnswer;
    try {
      this.setStatus({ state: "awaiting_approval", approval });
      answer = await untilAborted(this.signal, answered);
    } finally {
      this.pendingApproval = undefined;
    }
    await untilAborted(this.signal, this.recorder.recordAnswer(id, answer));
    return answer;
  }

  end(how: CallEnd): void {
    this.#resolveResources();
    this.#end(how);
  }
}
