import { expect, onTestFinished } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import { realWorld } from "../world/real/world.ts";
import type { Clock } from "../world/world.ts";
import { sleepWithClock } from "../world/sleep.ts";
import { openFakeCollector, type FakeCollector } from "./collector.cases.ts";
import { openTelemetry, type Telemetry, type TelemetryOptions } from "./telemetry.ts";

/** The start time of every fixture. */
export const startTime: number = Date.UTC(2026, 5, 1);

/** A clock that a test advances. */
export const createManualClock = (): Clock & {
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
    now: () => startTime + elapsed,
    elapsed: () => elapsed,
    after,
    sleep: (ms, signal) => sleepWithClock({ after }, ms, signal),
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

/** Telemetry with a fake collector and a manual clock. */
export type TelemetryFixture = {
  readonly telemetry: Telemetry;
  readonly collector: FakeCollector;
  readonly clock: ReturnType<typeof createManualClock>;
  readonly errors: readonly string[];
  /** Records events, or advances the clock by a number of milliseconds. */
  readonly play: (...steps: readonly (AgentEvent | number)[]) => void;
};

/** Opens a fixture for one test. Every test fails if the collector received invalid data. */
export const openTelemetryFixture = async (
  options: Partial<TelemetryOptions> = {},
  answer?: Parameters<typeof openFakeCollector>[0],
): Promise<TelemetryFixture> => {
  const collector = await openFakeCollector(answer);
  onTestFinished(async () => {
    expect(collector.faults).toEqual([]);
    await collector.close();
  });
  const clock = createManualClock();
  const errors: string[] = [];
  let count = 0;
  const telemetry = openTelemetry({
    world: { clock, random: () => (++count % 15) / 16, net: realWorld({}).net, env: {} },
    endpoint: collector.url,
    sessionId: "s1",
    logPrompts: false,
    onError: (words) => errors.push(words),
    ...options,
  });
  const play: TelemetryFixture["play"] = (...steps) => {
    for (const step of steps)
      if (typeof step === "number") clock.pass(step);
      else telemetry.record(step);
  };
  return { telemetry, collector, clock, errors, play };
};
