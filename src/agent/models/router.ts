import type { Failure } from "../../transport/failure.ts";
import type { Clock } from "../../world/world.ts";
import type { AgentEvent, ModelChangeReason } from "../events.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";

/** Which models may answer, and how one is chosen. */
export type ModelPool = {
  readonly models: readonly ModelRef[];
  /** `failover`: the first that works. `round-robin`: the next one for every turn. */
  readonly strategy: "failover" | "round-robin";
  /** Milliseconds for which a model that failed is left alone. */
  readonly cooldown: number;
};

/** A change of the model. */
export type ModelChange = { readonly from: ModelRef; readonly to: ModelRef; readonly reason: ModelChangeReason };

/**
 * Decides which model gets the next request. It changes between requests only:
 * by hand, at the beginning of a turn, or after a failure another model may not have.
 */
export class ModelRouter {
  readonly #clock: Pick<Clock, "elapsed">;
  readonly #resting = new Map<string, number>();
  #pool: ModelPool;
  #current: ModelRef;
  /** The one to go back to: the first of the pool, or the one chosen by hand. */
  #preferred: ModelRef;
  #turns = 0;

  constructor(pool: ModelPool, clock: Pick<Clock, "elapsed">) {
    const [first] = pool.models;
    if (first === undefined) throw new RangeError("A pool needs a model.");
    this.#pool = pool;
    this.#current = first;
    this.#preferred = first;
    this.#clock = clock;
  }

  get current(): ModelRef {
    return this.#current;
  }

  get pool(): ModelPool {
    return this.#pool;
  }

  /** Another model, or another pool, from the next request on. */
  switchTo(pool: ModelPool, model?: ModelRef): ModelChange | undefined {
    const to = model ?? pool.models[0] ?? this.#current;
    this.#pool = pool;
    this.#preferred = to;
    this.#turns = Math.max(
      0,
      pool.models.findIndex((each) => isSameModel(each, to)),
    );
    this.#resting.delete(modelName(to));
    return this.#change(to, { type: "asked" });
  }

  /** A turn of the person begins. */
  startTurn(): ModelChange | undefined {
    const { models, strategy } = this.#pool;
    const first = this.#turns === 0;
    const isTurned = strategy === "round-robin" && !first;
    const start = this.#turns % models.length;
    this.#turns += 1;
    const order =
      strategy === "round-robin" ? [...models.slice(start), ...models.slice(0, start)] : [this.#preferred, ...models];
    const rested = order.find((model) => !this.#rests(model));
    if (rested === undefined) return undefined;
    return this.#change(rested, isTurned ? { type: "round-robin" } : { type: "recovered" });
  }

  /**
   * A model failed: another one of the pool takes over, if there is one and it may help. One that
   * was left meanwhile only rests.
   */
  recordFailure(failure: Failure, model: ModelRef = this.#current): ModelChange | undefined {
    if (!canAnotherModelHelp(failure)) return undefined;
    const wait = failure.kind === "rate-limited" ? (failure.retryAfter ?? 0) : 0;
    this.#resting.set(modelName(model), this.#clock.elapsed() + Math.max(wait, this.#pool.cooldown));
    if (!isSameModel(model, this.#current)) return undefined;
    const at = this.#pool.models.findIndex((model) => isSameModel(model, this.#current));
    const others = [...this.#pool.models.slice(at + 1), ...this.#pool.models.slice(0, Math.max(0, at))];
    const next = others.find((model) => !this.#rests(model));
    return next === undefined ? undefined : this.#change(next, { type: "failover", failure });
  }

  #rests(model: ModelRef): boolean {
    return (this.#resting.get(modelName(model)) ?? Number.NEGATIVE_INFINITY) > this.#clock.elapsed();
  }

  #change(to: ModelRef, reason: ModelChangeReason): ModelChange | undefined {
    const from = this.#current;
    if (isSameModel(from, to)) return undefined;
    this.#current = to;
    return { from, to, reason };
  }
}

/** Records a change of the model in the session log, and emits it. */
export const recordModelChange = (
  change: ModelChange | undefined,
  { journal, emit }: { readonly journal: Pick<Journal, "appendMetadata">; readonly emit: (event: AgentEvent) => void },
): void => {
  if (change === undefined) return;
  const { from, to, reason } = change;
  journal.appendMetadata({ kind: "model", provider: to.provider.id, model: to.model, reason: reason.type });
  emit({ type: "model-changed", from: modelName(from), to: modelName(to), reason });
};

const isSameModel = (one: ModelRef, other: ModelRef): boolean => modelName(one) === modelName(other);

/** Whether another provider may answer what this one did not. A request that was found wrong would be wrong there too. */
const canAnotherModelHelp = (failure: Failure): boolean => {
  switch (failure.kind) {
    case "no-key":
    case "misconfigured":
    case "bad-key":
    case "no-credit":
    case "quota-gone":
    case "overloaded":
    case "rate-limited":
    case "network":
    case "time-out":
    case "stream-cut":
    case "malformed-stream":
      return true;
    case "refused":
      return failure.status === 403 || failure.status === 404;
    case "context-too-long":
    case "filtered":
    case "cancelled":
      return false;
  }
};
