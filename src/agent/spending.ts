import type { Usage } from "../wire/decode.ts";
import type { Spent } from "./events.ts";
import type { ModelRef } from "./model-name.ts";

/** Adds up what answers used and cost. Prices are loaded with the first answer, while nobody waits. */
export class Spending {
  #spent: Spent = { requests: 0, input: 0, cachedRead: 0, output: 0, cost: 0, unpriced: 0 };

  get spent(): Spent {
    return this.#spent;
  }

  async add({ provider, model }: ModelRef, usage: Usage): Promise<Spent> {
    const { costOf, factsOf } = await import("../providers/models.ts");
    const cost = costOf(factsOf(provider.id, model), usage);
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
