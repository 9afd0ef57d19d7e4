import { expect, it } from "vitest";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { McpTimeoutError, withTimeout } from "./timeout.ts";

const never = (): Promise<never> => new Promise(() => undefined);

it("ends work that takes too long, and aborts its signal", async () => {
  const { clock, run } = simulatedWorld();
  let stopped: AbortSignal | undefined;
  const limit = { clock, ms: 1000, signal: new AbortController().signal };
  const ended = withTimeout(limit, (signal) => {
    stopped = signal;
    return never();
  });
  await expect(run(ended)).rejects.toEqual(new McpTimeoutError("no response for 1 s."));
  expect([clock.elapsed(), stopped?.aborted]).toEqual([1000, true]);
});

it("of two nested limits of the same length, the outer one ends first", async () => {
  const { clock, run } = simulatedWorld();
  const limit = { clock, ms: 1000, signal: new AbortController().signal };
  const ended = withTimeout(limit, (signal) =>
    withTimeout({ ...limit, signal }, never).catch(() => {
      throw new Error("the inner one");
    }),
  );
  await expect(run(ended)).rejects.toEqual(new McpTimeoutError("no response for 1 s."));
});
