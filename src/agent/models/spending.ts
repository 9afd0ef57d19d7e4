import type { Price } from "../../providers/models.ts";
import type { TokenUsage } from "../../wire/decode/events.ts";
import type { UsageTotals } from "../events.ts";
import { modelName, type ModelRef } from "./name.ts";

/** Options of a spending tracker. */
export type SpendingOptions = {
  /** Everything added is added to this one too, which also knows the prices. */
  readonly parent?: SpendingTracker;
  /** The price of a model, where settings know it. */
  readonly priceOf?: (model: ModelRef) => Price | undefined;
};

/** Adds up the usage and cost of answers. Prices are loaded after the first answer, when that delays no request. */
export class SpendingTracker {
  readonly #parent: SpendingTracker | undefined;
  readonly #priceOf: SpendingOptions["priceOf"];
  /** Prices of the models used, by name. */
  readonly #prices = new Map<string, Price | undefined>();
  readonly #reported = new Set<string>();
  #totals: UsageTotals = { requests: 0, input: 0, cachedRead: 0, output: 0, cost: 0, unpriced: 0 };

  constructor({ parent, priceOf }: SpendingOptions = {}) {
    this.#parent = parent;
    this.#priceOf = priceOf;
  }

  get totals(): UsageTotals {
    return this.#totals;
  }

  /** The cost of the whole session, including the parent's. */
  get totalCost(): number {
    return this.#parent?.totalCost ?? this.#totals.cost;
  }

  async add(model: ModelRef, usage: TokenUsage): Promise<UsageTotals> {
    const { computeCost } = await import("../../providers/models.ts");
    await this.#parent?.add(model, usage);
    const price = await this.#price(model);
    const cost = price === undefined ? undefined : computeCost({ price }, usage);
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

  /** Whether the price of a model is unknown, and this is the first call that says so. */
  async isFirstUnpriced(model: ModelRef): Promise<boolean> {
    if (this.#parent !== undefined) return this.#parent.isFirstUnpriced(model);
    const name = modelName(model);
    if (this.#reported.has(name) || (await this.#price(model)) !== undefined) return false;
    this.#reported.add(name);
    return true;
  }

  /** The price of a model: that of the settings, else the published one. */
  async #price(model: ModelRef): Promise<Price | undefined> {
    if (this.#parent !== undefined) return this.#parent.#price(model);
    const name = modelName(model);
    if (!this.#prices.has(name)) {
      const { findModelFacts } = await import("../../providers/models.ts");
      this.#prices.set(name, this.#priceOf?.(model) ?? findModelFacts(model.provider.id, model.model).price);
    }
    return this.#prices.get(name);
  }
}
