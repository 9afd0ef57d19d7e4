import { describe, expect, it } from "vitest";
import type { Scheduler } from "../scheduler/scheduler.ts";
import { LazyScheduler } from "./lazy-scheduler.ts";

/** A lazy scheduler that records what it loads, and a clock that moves by hand. */
const createLoads = () => {
  const loads: string[] = [];
  const timers = new Set<() => void>();
  const load = async (): Promise<Scheduler> => {
    loads.push("tools");
    return {} as Scheduler;
  };
  const warmUp = async (): Promise<void> => void loads.push("the rest");
  const clock = {
    after: (_ms: number, work: () => void) => {
      timers.add(work);
      return () => void timers.delete(work);
    },
  };
  const passHeadStart = async (): Promise<void> => {
    for (const work of timers) work();
    timers.clear();
    await new Promise(setImmediate);
  };
  return { loads, passHeadStart, scheduler: new LazyScheduler(load, warmUp, clock) };
};

describe("the tools", () => {
  it("are loaded once while a response is awaited, after the head start of the request", async () => {
    const { loads, passHeadStart, scheduler } = createLoads();
    scheduler.preload();
    expect(loads).toEqual([]);
    await passHeadStart();
    scheduler.preload();
    await passHeadStart();
    await scheduler.open();
    expect(loads).toEqual(["tools", "the rest"]);
  });

  it("are not loaded for a response that ends sooner, but for the next one", async () => {
    const { loads, passHeadStart, scheduler } = createLoads();
    scheduler.preload()();
    await passHeadStart();
    expect(loads).toEqual([]);
    scheduler.preload();
    await passHeadStart();
    expect(loads).toEqual(["tools", "the rest"]);
  });
});
