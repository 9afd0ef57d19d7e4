import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../../../agent/events.ts";
import { CacheMissTracker } from "./cache-miss.ts";

const usage = (input: number, cachedRead: number): AgentEvent =>
  ({ type: "usage", usage: { input, cachedRead, cachedWrite: 0, output: 10, reasoning: 0 } }) as unknown as AgentEvent;
const switched = { type: "model-changed", from: "a/b", to: "c/d", reason: { type: "requested" } } as AgentEvent;
const compacted = { type: "compacted", compaction: {} } as unknown as AgentEvent;
const minutes = (count: number): number => count * 60_000;

describe("the cause of a miss of the prompt cache", () => {
  it.each<[string, readonly (readonly [AgentEvent, number])[], string | undefined]>([
    ["is none for the first request", [[usage(9000, 0), 0]], undefined],
    [
      "is none for a hit",
      [
        [usage(9000, 0), 0],
        [usage(9500, 9000), 10],
      ],
      undefined,
    ],
    [
      "is a switch of the model",
      [
        [usage(9000, 0), 0],
        [switched, 1],
        [usage(9500, 0), 10],
      ],
      "model switched",
    ],
    [
      "is a compaction",
      [
        [usage(9000, 0), 0],
        [compacted, 1],
        [usage(5000, 100), 10],
      ],
      "context compacted",
    ],
    [
      "is a long pause",
      [
        [usage(9000, 0), 0],
        [usage(9500, 0), minutes(12)],
      ],
      "idle for 12 min",
    ],
    [
      "is not guessed",
      [
        [usage(9000, 0), 0],
        [usage(9500, 0), minutes(1)],
      ],
      undefined,
    ],
    [
      "is none for a short prompt",
      [
        [usage(500, 0), 0],
        [switched, 1],
        [usage(600, 0), 2],
      ],
      undefined,
    ],
    [
      "is forgotten after a hit",
      [
        [usage(9000, 0), 0],
        [switched, 1],
        [usage(9500, 0), 2],
        [usage(9600, 9500), 3],
      ],
      undefined,
    ],
  ])("%s", (_, events, expected) => {
    const tracker = new CacheMissTracker();
    for (const [event, at] of events) tracker.record(event, at);
    expect(tracker.cause).toBe(expected);
  });
});
