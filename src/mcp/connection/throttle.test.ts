import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { Throttle } from "./throttle.ts";

describe("a server that sends a lot", () => {
  it("loses droppable messages beyond 200 in 100 ms, and none after that", async () => {
    const { clock, run } = simulatedWorld();
    const throttle = new Throttle(clock);
    const count = (): number =>
      Array.from({ length: 1000 }, () => throttle.shouldDrop()).filter((lost) => !lost).length;
    expect(count()).toBe(200);
    await run(clock.sleep(100));
    expect(count()).toBe(201);
  });

  it.each([
    ["requests", { messages: 1 }, 200],
    ["bytes", { bytes: 2 ** 20 }, 8],
  ])("waits for the rest of the window with %s", async (_, taken, free) => {
    const { clock, run } = simulatedWorld();
    const throttle = new Throttle(clock);
    const times: number[] = [];
    for (let sent = 0; sent <= free; sent += 1) {
      await run(throttle.take(taken));
      times.push(clock.elapsed());
    }
    expect([times.slice(0, -1).every((time) => time === 0), times.at(-1)]).toEqual([true, 100]);
  });

  it("is not limited below the rate", async () => {
    const { clock, run } = simulatedWorld();
    const throttle = new Throttle(clock);
    const pace = async (): Promise<void> => {
      for (let sent = 0; sent < 50; sent += 1) {
        await throttle.take({ bytes: 2 ** 20 });
        await clock.sleep(20);
      }
    };
    await run(pace());
    expect(clock.elapsed()).toBe(1000);
  });
});
