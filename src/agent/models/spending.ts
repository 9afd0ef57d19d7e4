import type { ModelFacts } from "../../providers/models.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { UsageTotals } from "../events.ts";
import type { ModelRef } from "./name.ts";

/** Adds up what answers used and cost. Prices are loaded with the first answer, while nobody waits. */
export class SpendingTracker {
  readonly #whole: SpendingTracker | undefined;
  /** What is known of the models that were asked. */
  readonly #facts = new Map<string, ModelFacts>();
  #spent: UsageTotals = { requests: 0, input: 0, cachedRead: 0, output: 0, cost: 0, unpriced: 0 };

  /** What is added here is part of `whole`. */
  constructor(whole?: SpendingTracker) {
    this.#whole = whole;
  }

  get totals(): UsageTotals {
    return this.#spent;
  }

  /** What all of it cost, of which this may be a part. */
  get totalCost(): number {
    return this.#whole?.totalCost ?? this.#spent.cost;
  }

  async add({ provider, model }: ModelRef, usage: TokenUsage): Promise<UsageTotals> {
    const { computeCost, findModelFacts } = await import("../../providers/models.ts");
    await this.#whole?.add({ provider, model }, usage);
    const name = `${provider.id}/${model}`;
    const facts = this.#facts.get(name) ?? findModelFacts(provider.id, model);
    this.#facts.set(name, facts);
    const cost = computeCost(facts, usage);
    const { requests, input, cachedRead, output, unpriced } = this.#spent;
    this.#spent = {
      requests: requests + 1,
      input: input + usage.input,
      cachedRead: cachedRead + usage.cachedRead,
      output: output + usage.output,
      cost: this.#spent.cost + (cost ?? 0),
      unpriced: unpriced + (cost === undefined ? 1 : 0),
    };
    return this.#spent;
  }
}
