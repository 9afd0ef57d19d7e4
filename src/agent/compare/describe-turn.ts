import type { ComparedTurn } from "./compare-models.ts";

/** Time, tokens and price of a compared turn, in one line. */
export const describeTurnCost = ({ elapsedMs, usage }: Pick<ComparedTurn, "elapsedMs" | "usage">): string => {
  const { input, output, cost, unpriced, requests } = usage;
  const price = requests === 0 || unpriced > 0 ? "price unknown" : `$${cost.toFixed(cost < 1 ? 4 : 2)}`;
  return `${(elapsedMs / 1000).toFixed(1)} s · ${input} in, ${output} out · ${price}`;
};
