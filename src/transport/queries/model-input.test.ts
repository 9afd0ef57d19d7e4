import { describe, expect, it } from "vitest";
import { findProvider } from "../../providers/find.ts";
import type { HttpResponse } from "../../world/net.ts";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { findModelInput } from "./model-input.ts";

const local = findProvider("local");

describe("asking a local server what a model takes", () => {
  it("gives up after two seconds of silence", async () => {
    const asked: string[] = [];
    const world = simulatedWorld({
      answer: ({ url }, signal) => {
        asked.push(url);
        return new Promise<HttpResponse>((_, reject) =>
          signal?.addEventListener("abort", () => reject(new Error("over"))),
        );
      },
    });
    const before = world.clock.elapsed();
    expect(await world.run(findModelInput(local, "qwen3", world))).toBe(undefined);
    expect(world.clock.elapsed() - before).toBeLessThan(2100);
    expect(asked[0]).toBe("http://127.0.0.1:11434/props");
  });
});
