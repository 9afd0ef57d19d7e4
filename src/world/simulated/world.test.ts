import { describe, expect, it } from "vitest";
import { simulatedWorld } from "./world.ts";

describe("a simulated world", () => {
  it("advances hours at once, timer by timer", async () => {
    const { clock, run } = simulatedWorld();
    const woken: string[] = [];
    const sleep = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name} at ${clock.elapsed()}`);
    };

    await run(Promise.all([sleep("late", 7_200_000), sleep("early", 10), sleep("second early", 10)]));

    expect(woken).toEqual(["early at 10", "second early at 10", "late at 7200000"]);
  });

  it("rejects a sleep at once when its signal is aborted", async () => {
    const { clock, run } = simulatedWorld();
    const stop = new AbortController();
    const sleeping = clock.sleep(1000, stop.signal);
    stop.abort(new Error("enough"));

    await expect(run(sleeping)).rejects.toThrow("enough");
    expect(clock.elapsed()).toBe(0);
  });

  it("shifts the wall clock without advancing time", () => {
    const { clock, shiftWallClock } = simulatedWorld({ start: 5_000 });
    shiftWallClock(-3_600_000);

    expect({ now: clock.now(), elapsed: clock.elapsed() }).toEqual({ now: -3_595_000, elapsed: 0 });
  });

  it("draws the same numbers for the same seed", () => {
    const draw = (seed: number): readonly number[] => {
      const { random } = simulatedWorld({ seed });
      return [random(), random(), random()];
    };

    expect(draw(7)).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
    expect(draw(7).every((number) => number >= 0 && number < 1)).toBe(true);
  });

  it("has no reachable host unless one is configured", async () => {
    const { net } = simulatedWorld();

    await expect(net.send({ method: "GET", url: "https://api.example/v1", headers: {} })).rejects.toMatchObject({
      at: "connect",
    });
  });
});
