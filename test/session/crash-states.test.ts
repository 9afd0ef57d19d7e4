import { expect, it } from "vitest";
import { crashEverywhere } from "./support/crash.ts";
import { perTier, seedFor } from "../support/tier.ts";

const block = perTier({ quick: 2, all: 8 });
const first = seedFor(1);

it.each([1, 2, 3, 4].map((number) => ({ from: first + (number - 1) * block, to: first + number * block - 1 })))(
  "keeps every acknowledged record through power losses at every change of sessions $from to $to",
  async ({ from, to }) => {
    let states = 0;
    for (let seed = from; seed <= to; seed++) {
      const report = await crashEverywhere(seed, 4);
      expect(report.broken, `npx tsx test/session/crash-states.ts 1 ${seed}`).toBeUndefined();
      states += report.states;
    }
    expect(states).toBeGreaterThan(30 * block);
  },
);
