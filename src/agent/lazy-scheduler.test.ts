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
  /** Runs the timers that are set now. */
  const passTime = async (): Promise<void> => {
    const due = [...timers];
    timers.clear();
    for (const work of due) work();
    await new Promise(setImmediate);
  };
  return { loads, passTime, scheduler: new LazyScheduler(load, warmUp, clock) };
};

describe("the tools", () => {
  it("are loaded once while a response is awaited, after the head start of the request", async () => {
    const { loads, passTime, scheduler } = createLoads();
    scheduler.preload();
    expect(loads).toEqual([]);
    await passTime();
    await passTime();
    scheduler.preload();
    await passTime();
    await passTime();
    await scheduler.open();
    expect(loads).toEqual(["tools", "the rest"]);
  });

  it("are not loaded for a response that ends sooner, but for the next one", async () => {
    const { loads, passTime, scheduler } = createLoads();
    scheduler.preload()();
    await passTime();
    await passTime();
    expect(loads).toEqual([]);
    scheduler.preload();
    await passTime();
    await passTime();
    expect(loads).toEqual(["tools", "the rest"]);
  });

  it("do not delay a response that arrives while they are loaded with what only some calls need", async () => {
    const { loads, passTime, scheduler } = createLoads();
    const endResponse = scheduler.preload();
    await passTime();
    endResponse();
    await passTime();
    expect(loads).toEqual(["tools"]);
    scheduler.preload();
    await passTime();
    await passTime();
    expect(loads).toEqual(["tools", "the rest"]);
  });
});
