import { canAnotherModelHelp, Cooldowns } from "../../transport/cooldowns.ts";
import type { Failure } from "../../transport/failure.ts";
import type { Clock } from "../../world/world.ts";
import type { AgentEvent, ModelChangeReason } from "../events.ts";
import type { Journal } from "../session/journal.ts";
import { modelName, type ModelRef } from "./name.ts";

/** The models that may answer, and how one is selected. */
export type ModelPool = {
  readonly models: readonly ModelRef[];
  /** `failover`: the first available model. `round-robin`: another model for every turn. */
  readonly strategy: "failover" | "round-robin";
  /** Milliseconds for which a model that failed is not used. */
  readonly cooldown: number;
};

/** A change of the model. */
export type ModelChange = { readonly from: ModelRef; readonly to: ModelRef; readonly reason: ModelChangeReason };

/**
 * Selects the model of the next request. It changes between requests only: by the person, at the start of a turn, or
 * after a failure that another model may not have.
 */
export class ModelRouter {
  readonly #cooldowns: Cooldowns;
  #pool: ModelPool;
  #current: ModelRef;
  /** The model to return to: the first of the pool, or the one the person chose. */
  #preferred: ModelRef;
  #turns = 0;

  constructor(pool: ModelPool, clock: Pick<Clock, "elapsed">) {
    const [first] = pool.models;
    if (first === undefined) throw new RangeError("A pool needs a model.");
    this.#pool = pool;
    this.#current = first;
    this.#preferred = first;
    this.#cooldowns = new Cooldowns(clock);
  }

  get current(): ModelRef {
    return this.#current;
  }

  get pool(): ModelPool {
    return this.#pool;
  }

  /** Switches to another pool, or another model of it, from the next request on. */
  switchTo(pool: ModelPool, model?: ModelRef): ModelChange | undefined {
    const to = model ?? pool.models[0] ?? this.#current;
    this.#pool = pool;
    this.#preferred = to;
    this.#turns = Math.max(
      0,
      pool.models.findIndex((each) => isSameModel(each, to)),
    );
    this.#cooldowns.end(modelName(to));
    return this.#change(to, { type: "requested" });
  }

  /** Selects the model of a new turn. */
  startTurn(): ModelChange | undefined {
    const { models, strategy } = this.#pool;
    const isRotated = strategy === "round-robin" && this.#turns > 0;
    const start = this.#turns % models.length;
    this.#turns += 1;
    const order =
      strategy === "round-robin" ? [...models.slice(start), ...models.slice(0, start)] : [this.#preferred, ...models];
    const available = order.find((model) => !this.#isCoolingDown(model));
    if (available === undefined) return undefined;
    return this.#change(available, isRotated ? { type: "round-robin" } : { type: "recovered" });
  }

  /**
   * Starts the cooldown of a model that failed, and fails over to another one of the pool if that may help. If the
   * person switched models meanwhile, the current model stays.
   */
  recordFailure(failure: Failure, model: ModelRef = this.#current): ModelChange | undefined {
    if (!canAnotherModelHelp(failure)) return undefined;
    this.#cooldowns.start(modelName(model), failure, this.#pool.cooldown);
    if (!isSameModel(model, this.#current)) return undefined;
    const at = this.#pool.models.findIndex((model) => isSameModel(model, this.#current));
    const others = [...this.#pool.models.slice(at + 1), ...this.#pool.models.slice(0, Math.max(0, at))];
    const next = others.find((model) => !this.#isCoolingDown(model));
    return next === undefined ? undefined : this.#change(next, { type: "failover", failure });
  }

  #isCoolingDown(model: ModelRef): boolean {
    return this.#cooldowns.isCoolingDown(modelName(model));
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
