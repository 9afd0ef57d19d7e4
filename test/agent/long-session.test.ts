import { describe, expect, it } from "vitest";
import { playLongSession } from "../support/long-session.ts";
import { perTier, seedFor } from "../support/tier.ts";

/** The steps of a session: in small context windows, of usual size, and of every size. */
const steps = perTier<readonly [number, number, number]>({ quick: [400, 150, 150], all: [3000, 1000, 3000] });

/** The share of the context window a request may fill right after a compaction. */
const mostAfter = 0.75;

const windows = perTier({
  quick: [8000, 16_000, 40_000, 128_000],
  all: [8000, 16_000, 40_000, 128_000, 200_000, 1_000_000],
});

const cases = [
  { what: "a small context window", seed: seedFor(1), windows: [8000], steps: steps[0] },
  { what: "a context window of usual size", seed: seedFor(2), windows: [200_000], steps: steps[1] },
  { what: "models of every size", seed: seedFor(perTier({ quick: 5, all: 3 })), windows, steps: steps[2] },
];

describe("a session of many steps", () => {
  it.each(cases)("continues with $what, seed $seed", async ({ seed, windows: among, steps: count }) => {
    const played = await playLongSession({ seed, windows: among, steps: count });
    expect(played.broken).toEqual([]);
    expect(played.requests).toBeGreaterThanOrEqual(count);
    expect(played.compactions).toBeGreaterThan(3);
    expect(played.resumes).toBeGreaterThan(0);
    expect(played.fullestAfter).toBeLessThan(mostAfter);
  });
});
