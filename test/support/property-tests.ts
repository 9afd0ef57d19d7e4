import { expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import { makeHistory } from "./histories.ts";
import { checkHistory } from "./properties.ts";
import { seedFor } from "./tier.ts";

/** One test a block of histories; a failure names the seed, and `npm run fuzz` shrinks it. */
export const checkHistories = ({ from, count }: { from: number; count: number }): void => {
  const block = 500;
  const first = seedFor(from);
  for (let start = first; start < first + count; start += block) {
    it(`keeps every promise to every provider for histories ${start} to ${start + block - 1}`, () => {
      for (let seed = start; seed < start + block; seed++) {
        const broken = checkHistory(makeHistory(seed), providers, seed);
        expect(broken, `npm run fuzz -- --histories 1 --seed ${seed}`).toBeUndefined();
      }
    });
  }
};
