import { describe, expect, it } from "vitest";
import { simulateMany } from "../support/agent-simulate-many.ts";
import { perTier, seedFor } from "../support/tier.ts";

const count = perTier({ quick: 50, all: 400, nightly: 1000 });
const repeated = perTier({ quick: 2, all: 40 });

describe("the whole agent, in a simulated world where everything goes wrong", () => {
  it(`keeps its promises for ${count} seeds`, async () => {
    const { simulations, crashes, ends, broken } = await simulateMany(count, seedFor(1));
    expect(broken).toBeUndefined();
    expect(simulations).toBe(count);
    // Otherwise nothing was tested.
    expect([crashes > 0.3 * count, Object.keys(ends).toSorted()]).toEqual([true, ["cancelled", "failed", "finished"]]);
  });

  it("does the same for the same seed", async () => {
    const seeds = perTier({ quick: [5000, 5000], all: [5000, 5000, 5001] });
    const [one, other, another] = await Promise.all(seeds.map((seed) => simulateMany(repeated, seed)));
    expect(one?.hash).toBe(other?.hash);
    expect(one?.hash).not.toBe(another?.hash);
  });
});
