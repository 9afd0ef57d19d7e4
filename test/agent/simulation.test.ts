import { describe, expect, it } from "vitest";
import { simulateMany } from "../support/agent-simulate-many.ts";

describe("the whole agent, in a simulated world where everything goes wrong", () => {
  it("keeps its promises for a thousand seeds", async () => {
    const { simulations, crashes, ends, broken } = await simulateMany(1000, 1);
    expect(broken).toBeUndefined();
    expect(simulations).toBe(1000);
    // Otherwise nothing was tested.
    expect([crashes > 300, Object.keys(ends).toSorted()]).toEqual([true, ["cancelled", "failed", "finished"]]);
  });

  it("does the same for the same seed", async () => {
    const [one, other] = await Promise.all([simulateMany(40, 5000), simulateMany(40, 5000)]);
    expect(one.hash).toBe(other.hash);
    expect((await simulateMany(1, 1)).hash).not.toBe((await simulateMany(1, 2)).hash);
  });
});
