import { setMaxListeners } from "node:events";
import type { Call } from "../conversation/parts.ts";
import type { Verdict } from "../policy/gate.ts";
import type { GateRequest } from "../policy/gate-request.ts";
import type { Approval, CallDecision, CallStatus, Decision, Denial } from "./events.ts";
import type { Resolved } from "./resolve.ts";
import { Stopped, until } from "./stop.ts";

/** An answer to a question: a person's, or the gate's once something else was answered for always. */
export type Answer = Exclude<Decision, { type: "cancel" }> | { readonly type: "judged"; readonly verdict: Verdict };

/** A question that waits. */
export type Waiting = {
  readonly approval: Approval;
  readonly request: GateRequest;
  readonly answer: (answer: Answer) => void;
};

/** A call that a model asks for. */
export type Requested = Pick<LiveCall, "call" | "batch" | "record" | "began"> & {
  readonly tell: (status: CallStatus) => void;
};

/** A call on its way from request to end. */
export class LiveCall {
  readonly call: Call;
  /** The calls it came with, itself among them. */
  readonly batch: readonly LiveCall[];
  /** Settles when it is on record that the model asked for it. */
  readonly record: () => Promise<void>;
  /** Settles when what it touches is known, or will never be. */
  readonly touched: Promise<void>;
  readonly ended: Promise<void>;
  readonly began: number;
  resolved: Resolved | undefined;
  decision: CallDecision | undefined;
  denial: Denial | undefined;
  server: string | undefined;
  waiting: Waiting | undefined;
  readonly #stop = new AbortController();
  readonly #tell: (status: CallStatus) => void;
  #touch: () => void = () => {};
  #end: () => void = () => {};

  constructor({ call, batch, record, began, tell }: Requested) {
    this.call = call;
    this.batch = batch;
    this.record = record;
    this.began = began;
    this.#tell = tell;
    this.touched = new Promise((resolve) => (this.#touch = resolve));
    this.ended = new Promise((resolve) => (this.#end = resolve));
    setMaxListeners(0, this.signal);
  }

  /** Aborted with `Stopped`. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  touches(resolved: Resolved): void {
    this.resolved = resolved;
    this.#touch();
  }

  changed(status: CallStatus): void {
    this.#tell(status);
  }

  stop(byPerson: boolean): void {
    this.#stop.abort(new Stopped(byPerson));
  }

  /** Asks, and waits for the answer. The question stands before anyone hears of it, so it can be answered at once. */
  async ask(approval: Approval, request: GateRequest): Promise<Answer> {
    await until(this.signal, this.record());
    const answered = new Promise<Answer>((answer) => (this.waiting = { approval, request, answer }));
    try {
      this.changed({ state: "awaiting_approval", approval });
      return await until(this.signal, answered);
    } finally {
      this.waiting = undefined;
    }
  }

  end(): void {
    this.#touch();
    this.#end();
  }
}
