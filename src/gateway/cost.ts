import type { Provider } from "../providers/define.ts";
import { computeCost, findModelFacts } from "../providers/models.ts";
import type { TokenUsage } from "../wire/decode/events.ts";
import type { GatewayConfig } from "./routes/config.ts";

/** The cost of an answer, or the model whose price is unknown. Neither for a server of one's own. */
export type AnswerCost = { readonly cost?: number; readonly unpriced?: string };

/** Computes the cost of an answer by the price in the settings, else by the published one. */
export const costOfAnswer = (
  { models = {} }: GatewayConfig,
  { provider, model }: { readonly provider: Provider; readonly model: string },
  usage: TokenUsage,
): AnswerCost => {
  const name = `${provider.id}/${model}`;
  const price = models[name]?.price ?? findModelFacts(provider.id, model).price;
  const cost = computeCost(price === undefined ? {} : { price }, usage);
  if (cost !== undefined) return { cost };
  return provider.auth.type === "none" ? {} : { unpriced: name };
};
