import { describe, expect, it } from "vitest";
import { playLongSession } from "../support/long-session.ts";
import { perTier, seedFor } from "../support/tier.ts";

/** With a small context window, which is compacted often. */
const stepCount = perTier({ quick: 1000, all: 3000 });

/** The share of the context window a request may fill right after a compaction. */
const mostAfter = 0.75;

const windows = [8000, 16_000, 40_000, 128_000, 200_000, 1_000_000];

const cases = [
  { what: "a small context window", seed: seedFor(1), windows: [8000], steps: stepCount },
  { what: "a context window of usual size", seed: seedFor(2), windows: [200_000], steps: 1000 },
  { what: "models of every size", seed: seedFor(3), windows, steps: 3000 },
];

describe("a session of thousands of steps", () => {
  it.each(cases)("continues with $what, seed $seed", async ({ seed, windows: among, steps }) => {
    const played = await playLongSession({ seed, windows: among, steps });
    expect(played.broken).toEqual([]);
    expect(played.requests).toBeGreaterThanOrEqual(steps);
    expect(played.compactions).toBeGreaterThan(3);
    expect(played.resumes).toBeGreaterThan(0);
    expect(played.fullestAfter).toBeLessThan(mostAfter);
  });
});
