import { inject, it } from "vitest";

/*
 * How much a test does in each tier: quick (`npm test`), all (`npm run test:all`, CI) and nightly (`npm run
 * test:nightly`: as much as all or more, with fresh seeds). vitest.config.ts reads the tier from vitest's mode.
 */

declare module "vitest" {
  interface ProvidedContext {
    readonly tier: Tier;
    /** Added to every seed; 0 except at night. */
    readonly seedOffset: number;
  }
}

export type Tier = "quick" | "all" | "nightly";

/** Returns the amount of the running tier. At night it is the one of `all`, unless there is a larger one. */
export const perTier = <Amount>({
  quick,
  all,
  nightly = all,
}: {
  readonly quick: Amount;
  readonly all: Amount;
  readonly nightly?: Amount;
}): Amount => ({ quick, all, nightly })[inject("tier")];

/** Returns the seed itself in the quick tier and in CI, and a fresh one at night. */
export const seedFor = (seed: number): number => (seed + inject("seedOffset")) % 2 ** 31;

/** Returns all cases; in the quick tier the first one and every `stride`th after it. */
export const sampleCases = <Case>(cases: readonly Case[], stride: number): readonly Case[] =>
  perTier({ quick: cases.filter((_, index) => index % stride === 0), all: cases });

/** A test that the quick tier leaves out. Another, quick one must fail for the same kind of fault. */
export const itInAll: typeof it.skip = it.runIf(perTier({ quick: false, all: true }));
