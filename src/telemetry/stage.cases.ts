import { expect, onTestFinished } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import { realWorld } from "../world/real.ts";
import type { Clock } from "../world/world.ts";
import { sleepBy } from "../world/sleep.ts";
import { openCollector, type Collector } from "./collector.cases.ts";
import { openTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.ts";

/** The time at which everything begins. */
export const start: number = Date.UTC(2026, 5, 1);

/** Time that passes when it is told to. */
export const handClock = (): Clock & {
  readonly pass: (ms: number) => void;
  readonly sleepers: () => readonly number[];
} => {
  let elapsed = 0;
  const sleeping = new Set<{ readonly at: number; readonly wake: () => void }>();
  const after: Clock["after"] = (ms, wake) => {
    const sleeper = { at: elapsed + ms, wake };
    sleeping.add(sleeper);
    return () => void sleeping.delete(sleeper);
  };
  return {
    now: () => start + elapsed,
    elapsed: () => elapsed,
    after,
    sleep: (ms, signal) => sleepBy({ after }, ms, signal),
    pass: (ms) => {
      elapsed += ms;
      for (const sleeper of sleeping)
        if (sleeper.at <= elapsed) {
          sleeping.delete(sleeper);
          sleeper.wake();
        }
    },
    sleepers: () => [...sleeping].map(({ at }) => at - elapsed),
  };
};

/** Telemetry, a collector and a clock, all in the hands of a test. */
export type Stage = {
  readonly telemetry: Telemetry;
  readonly collector: Collector;
  readonly clock: ReturnType<typeof handClock>;
  readonly troubles: readonly string[];
  /** Hears events, or lets time pass between them. */
  readonly play: (...steps: readonly (AgentEvent | number)[]) => void;
};

/** Opens a stage for one test. Whatever the test is about, what the collector was sent must be well written. */
export const openStage = async (
  options: Partial<TelemetryOptions> = {},
  answer?: Parameters<typeof openCollector>[0],
): Promise<Stage> => {
  const collector = await openCollector(answer);
  onTestFinished(async () => {
    expect(collector.faults).toEqual([]);
    await collector.close();
  });
  const clock = handClock();
  const troubles: string[] = [];
  let count = 0;
  const telemetry = openTelemetry({
    world: { clock, random: () => (++count % 15) / 16, net: realWorld({}).net, env: {} },
    endpoint: collector.url,
    conversation: "s1",
    logPrompts: false,
    trouble: (words) => troubles.push(words),
    ...options,
  });
  const play: Stage["play"] = (...steps) => {
    for (const step of steps)
      if (typeof step === "number") clock.pass(step);
      else telemetry.hear(step);
  };
  return { telemetry, collector, clock, troubles, play };
};
