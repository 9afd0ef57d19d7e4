import { describe, expect, it } from "vitest";
import { playLongSession } from "../support/long-session.ts";

/** The number of seeds of every kind; more with PARLEY_LONG_SESSIONS. */
const seeds = Number(process.env["PARLEY_LONG_SESSIONS"] ?? 0);

/** The share of the context window a request may fill right after a compaction. */
const mostAfter = 0.75;

const windows = [8000, 16_000, 40_000, 128_000, 200_000, 1_000_000];

const one = [
  { what: "a small context window", seed: 1, windows: [8000], steps: 3000 },
  { what: "a context window of usual size", seed: 2, windows: [200_000], steps: 1000 },
  { what: "models of every size", seed: 3, windows, steps: 3000 },
];

const cases = [
  ...one,
  ...Array.from({ length: seeds }, (_, index) => index + 1).flatMap((seed) => [
    ...windows.map((window) => ({
      what: `one context window of ${window} tokens`,
      seed,
      windows: [window],
      steps: 3000,
    })),
    { what: "models of every size", seed, windows, steps: 3000 },
    { what: "a large and a small model", seed, windows: [200_000, 8000], steps: 3000 },
  ]),
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
