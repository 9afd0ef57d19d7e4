import type { ModelFacts } from "../../providers/models.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { UsageTotals } from "../events.ts";
import type { ModelRef } from "./name.ts";

/** Adds up the usage and cost of answers. Prices are loaded after the first answer, when that delays no request. */
export class SpendingTracker {
  readonly #parent: SpendingTracker | undefined;
  /** Facts of the models used, by name. */
  readonly #facts = new Map<string, ModelFacts>();
  #totals: UsageTotals = { requests: 0, input: 0, cachedRead: 0, output: 0, cost: 0, unpriced: 0 };

  /** Everything added here is added to `parent` too. */
  constructor(parent?: SpendingTracker) {
    this.#parent = parent;
  }

  get totals(): UsageTotals {
    return this.#totals;
  }

  /** The cost of the whole session, including the parent's. */
  get totalCost(): number {
    return this.#parent?.totalCost ?? this.#totals.cost;
  }

  async add({ provider, model }: ModelRef, usage: TokenUsage): Promise<UsageTotals> {
    const { computeCost, findModelFacts } = await import("../../providers/models.ts");
    await this.#parent?.add({ provider, model }, usage);
    const name = `${provider.id}/${model}`;
    const facts = this.#facts.get(name) ?? findModelFacts(provider.id, model);
    this.#facts.set(name, facts);
    const cost = computeCost(facts, usage);
    const { requests, input, cachedRead, output, unpriced } = this.#totals;
    this.#totals = {
      requests: requests + 1,
      input: input + usage.input,
      cachedRead: cachedRead + usage.cachedRead,
      output: output + usage.output,
      cost: this.#totals.cost + (cost ?? 0),
      unpriced: unpriced + (cost === undefined ? 1 : 0),
    };
    return this.#totals;
  }
}
