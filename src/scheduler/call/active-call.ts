import { setMaxListeners } from "node:events";
import type { Call } from "../../conversation/parts.ts";
import type { PermissionVerdict } from "../../policy/gate/create.ts";
import type { GateRequest } from "../../policy/gate/request.ts";
import type { ApprovalRequest, CallDecision, CallStatus, ApprovalDecision, CallDenial } from "../events.ts";
import type { ResolvedResources } from "./resolve-resources.ts";
import { CallStoppedError, untilAborted } from "./stop.ts";

/** An answer to a question: a person's, or the gate's once something else was answered for always. */
export type ApprovalAnswer =
  | Exclude<ApprovalDecision, { type: "cancel" }>
  | { readonly type: "judged"; readonly verdict: PermissionVerdict };

/** A question that waits. */
export type PendingCallApproval = {
  readonly approval: ApprovalRequest;
  readonly request: GateRequest;
  readonly answer: (answer: ApprovalAnswer) => void;
};

/** A call that a model asks for. */
export type RequestedCall = Pick<ActiveCall, "call" | "batch" | "recordRequest" | "startedAt"> & {
  readonly onStatus: (status: CallStatus) => void;
};

/** A call on its way from request to end. */
export class ActiveCall {
  readonly call: Call;
  /** The calls it came with, itself among them. */
  readonly batch: readonly ActiveCall[];
  /** Settles when it is on record that the model asked for it. */
  readonly recordRequest: () => Promise<void>;
  /** Settles when what it touches is known, or will never be. */
  readonly resourcesKnown: Promise<void>;
  readonly ended: Promise<void>;
  readonly startedAt: number;
  resources: ResolvedResources | undefined;
  decision: CallDecision | undefined;
  denial: CallDenial | undefined;
  server: string | undefined;
  pendingApproval: PendingCallApproval | undefined;
  readonly #stop = new AbortController();
  readonly #tell: (status: CallStatus) => void;
  #touch: () => void = () => {};
  #end: () => void = () => {};

  constructor({ call, batch, recordRequest: record, startedAt: began, onStatus: tell }: RequestedCall) {
    this.call = call;
    this.batch = batch;
    this.recordRequest = record;
    this.startedAt = began;
    this.#tell = tell;
    this.resourcesKnown = new Promise((resolve) => (this.#touch = resolve));
    this.ended = new Promise((resolve) => (this.#end = resolve));
    setMaxListeners(0, this.signal);
  }

  /** Aborted with `Stopped`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  setResources(resolved: ResolvedResources): void {
    this.resources = resolved;
    this.#touch();
  }

  setStatus(status: CallStatus): void {
    this.#tell(status);
  }

  stop(byPerson: boolean): void {
    this.#stop.abort(new CallStoppedError(byPerson));
  }

  /** Asks, and waits for the answer. The question stands before anyone hears of it, so it can be answered at once. */
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
    this.#touch();
    this.#end();
  }
}
