import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../agent/events.ts";
import { TurnMeter } from "./turn-meter.ts";

/** A turn with these events, each after some milliseconds, and the state afterwards. */
const summary = (
  events: readonly (readonly [number, AgentEvent | "cost" | "ask" | "answer"])[],
  rest = 0,
): string | undefined => {
  let [now, cost, isAsking] = [1000, 0.5, false];
  const meter = new TurnMeter({ clock: { elapsed: () => now }, cost: () => cost, isAsking: () => isAsking });
  for (const [after, event] of events) {
    now += after;
    if (event === "cost") cost += 0.0162;
    else if (event === "ask" || event === "answer") {
      isAsking = event === "ask";
      meter.handleEvent({ type: "call-updated" } as AgentEvent);
    } else meter.handleEvent(event);
  }
  now += rest;
  return meter.end();
};

const usage = { type: "usage" } as AgentEvent;
const requested = (tool: string): AgentEvent =>
  ({ type: "call-requested", call: { id: "c", tool } }) as unknown as AgentEvent;
const completed = { type: "call-completed", finished: { call: { id: "c" } } } as unknown as AgentEvent;

describe("a turn summed up", () => {
  it("has its time, the requests of the model and the money", () => {
    expect(
      summary(
        [
          [4000, usage],
          [0, "cost"],
          [61_000, usage],
        ],
        500,
      ),
    ).toBe("1m 5s · 2 steps · $0.02");
  });

  it("leaves out money that is not known, and names one step as one", () => {
    expect(summary([[12_000, usage]])).toBe("12s · 1 step");
  });

  it("is nothing if it was short", () => {
    expect(summary([[4999, usage]])).toBeUndefined();
  });

  it("leaves out the time in which it waited for the user", () => {
    expect(
      summary([
        [3000, "ask"],
        [600_000, "answer"],
        [1000, usage],
      ]),
    ).toBeUndefined();
    expect(
      summary([
        [3000, "ask"],
        [600_000, "answer"],
        [3000, usage],
      ]),
    ).toBe("6s · 1 step");
    expect(
      summary([
        [3000, requested("ask_user")],
        [600_000, completed],
        [3000, usage],
      ]),
    ).toBe("6s · 1 step");
    expect(
      summary([
        [3000, requested("run_shell_command")],
        [600_000, completed],
        [3000, usage],
      ]),
    ).toBe("10m 6s · 1 step");
  });
});
