import { checkHistories } from "../support/property-tests.ts";
import { perTier } from "../support/tier.ts";

checkHistories({ from: 10_001, count: perTier({ quick: 500, all: 5000, nightly: 10_000 }) });
