import { expect, it } from "vitest";
import { providers } from "../../src/providers/all.ts";
import type { Provider } from "../../src/providers/define.ts";
import { makeHistory } from "./histories.ts";
import { checkHistory } from "./properties.ts";
import { perTier, seedFor } from "./tier.ts";

const reach = perTier({ quick: "two providers", all: "every provider" });

/**
 * One test a block of histories; a failure names the seed, and `npm run fuzz` shrinks it. In the quick tier each history
 * is for a provider of two of the APIs, in turn.
 */
export const checkHistories = ({ from, count }: { from: number; count: number }): void => {
  const block = 500;
  const first = seedFor(from);
  for (let start = first; start < first + count; start += block) {
    it(`keeps every promise to ${reach} for histories ${start} to ${start + block - 1}`, () => {
      for (let seed = start; seed < start + block; seed++) {
        const broken = checkHistory(makeHistory(seed), providersFor(seed), seed);
        expect(broken, `npm run fuzz -- --histories 1 --seed ${seed}`).toBeUndefined();
      }
    });
  }
};

const wires = [...new Set(providers.map(({ wire }) => wire))];

/** More than the models of a provider, among which a history chooses by its seed too. */
const historiesInTurn = 12;

/** Two of all APIs. Each next round of turns begins one later, so that an API gets histories of every remainder. */
const isTurnOf = (index: number, seed: number): boolean =>
  (index + seed + Math.floor(seed / wires.length)) % wires.length < 2;

const providersFor = (seed: number): readonly Provider[] =>
  perTier({
    quick: wires
      .filter((_, index) => isTurnOf(index, seed))
      .map((wire) => {
        const family = providers.filter((provider) => provider.wire === wire);
        return family[Math.floor(seed / historiesInTurn) % family.length]!;
      }),
    all: providers,
  });
