import { expect, it } from "vitest";
import { crashEverywhere } from "./support/crash.ts";

const block = 8;

it.each([1, 2, 3, 4].map((number) => ({ from: (number - 1) * block + 1, to: number * block })))(
  "keeps every acknowledged record through power losses at every change of sessions $from to $to",
  async ({ from, to }) => {
    let states = 0;
    for (let seed = from; seed <= to; seed++) {
      const report = await crashEverywhere(seed, 4);
      expect(report.broken, `npx tsx test/session/crash-states.ts 1 ${seed}`).toBeUndefined();
      states += report.states;
    }
    expect(states).toBeGreaterThan(300);
  },
);
