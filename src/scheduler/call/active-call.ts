import { setMaxListeners } from "node:events";
import type { Call } from "../../conversation/parts.ts";
import type { PermissionVerdict } from "../../policy/gate/create.ts";
import type { GateRequest } from "../../policy/gate/request.ts";
import type { ApprovalRequest, CallDecision, CallStatus, ApprovalDecision, CallDenial } from "../events.ts";
import type { ResolvedResources } from "./resolve-resources.ts";
import { CallStoppedError, untilAborted } from "./stop.ts";

/** An answer to an approval request: the user's, or the gate's after its rules or mode changed. */
export type ApprovalAnswer =
  | Exclude<ApprovalDecision, { type: "cancel" }>
  | { readonly type: "judged"; readonly verdict: PermissionVerdict };

/** An approval request that waits for an answer. */
export type PendingCallApproval = {
  readonly approval: ApprovalRequest;
  readonly request: GateRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
};

/** A tool call requested by a model. */
export type RequestedCall = Pick<ActiveCall, "call" | "batch" | "recordRequest" | "startedAt"> & {
  readonly onStatus: (status: CallStatus) => void;
};

/** A call between request and end. */
export class ActiveCall {
  readonly call: Call;
  /** All calls of its batch, including itself. */
  readonly batch: readonly ActiveCall[];
  /** Settles when the session log contains the model's request for this call. */
  readonly recordRequest: () => Promise<void>;
  /** Settles when the resources it touches are known, or never will be. */
  readonly resourcesKnown: Promise<void>;
  readonly ended: Promise<void>;
  readonly startedAt: number;
  resources: ResolvedResources | undefined;
  decision: CallDecision | undefined;
  denial: CallDenial | undefined;
  server: string | undefined;
  pendingApproval: PendingCallApproval | undefined;
  /** Milliseconds it waited for answers of the user. */
  approvalWaitMs = 0;
  readonly #stop = new AbortController();
  readonly #onStatus: (status: CallStatus) => void;
  #resolveResources: () => void = () => {};
  #end: () => void = () => {};

  constructor({ call, batch, recordRequest, startedAt, onStatus }: RequestedCall) {
    this.call = call;
    this.batch = batch;
    this.recordRequest = recordRequest;
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
    this.#stop.abort(new CallStoppedError(byPerson));
  }

  /**
   * Requests approval and waits for the answer. The request is pending before listeners hear of it, so they can answer
   * at once.
   */
  async ask(approval: ApprovalRequest, request: GateRequest): Promise<ApprovalAnswer> {
    await untilAborted(this.signal, this.recordRequest());
    const answered = new Promise<ApprovalAnswer>((answer) => (this.pendingApproval = { approval, request, answer }));
    try {
      this.setStatus({ state: "awaiting_approval", approval });
      return await untilAborted(this.signal, answered);
    } finally {
      this.pendingApproval = undefined;
    }
  }

  end(): void {
    this.#resolveResources();
    this.#end();
  }
}
