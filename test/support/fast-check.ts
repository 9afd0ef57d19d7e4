import fc from "fast-check";
import { seedFor } from "./tier.ts";

/*
 * fast-check with the seed of the tier: the same values in every run, and fresh ones at night. A failure prints the
 * seed and the path of the counterexample.
 */

fc.configureGlobal({ seed: seedFor(1) });

export { fc };
