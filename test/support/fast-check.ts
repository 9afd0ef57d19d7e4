import fc from "fast-check";
import { perTier, seedFor } from "./tier.ts";

/*
 * fast-check with the seed of the tier: the same values in every run, and fresh ones at night. A failure prints the
 * seed and the path of the counterexample.
 */

fc.configureGlobal({ seed: seedFor(1) });

/** Returns the number of runs of a slow property: a tenth in the quick tier. */
export const runsPerTier = (all: number): number => perTier({ quick: Math.ceil(all / 10), all });

export { fc };
