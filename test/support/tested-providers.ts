import { listSimulatedProviders } from "../../src/sim/registry.ts";
import { perTier } from "./tier.ts";

/** The providers of tests that run with each simulated provider; in the quick tier one of each API. */
export const testedProviders: readonly string[] = perTier({
  quick: ["google", "anthropic", "bedrock", "openai", "openai-chat"],
  all: listSimulatedProviders(),
});
