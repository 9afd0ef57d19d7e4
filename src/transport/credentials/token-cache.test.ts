import { describe, expect, it } from "vitest";
import { simulatedWorld } from "../../world/simulated/world.ts";
import { TokenCache } from "./token-cache.ts";

describe("a lease", () => {
  it("lets one caller give up without taking the token from the others", async () => {
    let hand: (value: string) => void = () => undefined;
    const lease = new TokenCache(simulatedWorld().clock, async () => ({
      value: await new Promise<string>((resolve) => (hand = resolve)),
      until: Number.POSITIVE_INFINITY,
    }));
    const stop = new AbortController();
    const patient = lease.get();
    const impatient = lease.get(stop.signal);
    stop.abort(new Error("enough"));
    await expect(impatient).rejects.toThrow("enough");
    hand("token");

    expect(await patient).toBe("token");
  });

  it("is fetched again after a failure, and after it was dropped", async () => {
    const outcomes = [new Error("down"), "one", "two"];
    const lease = new TokenCache(simulatedWorld().clock, async () => {
      const next = outcomes.shift();
      if (typeof next !== "string") throw next;
      return { value: next, until: Number.POSITIVE_INFINITY };
    });

    await expect(lease.get()).rejects.toThrow("down");
    expect([await lease.get(), await lease.get()]).toEqual(["one", "one"]);
    lease.drop();
    expect(await lease.get()).toBe("two");
  });
});
