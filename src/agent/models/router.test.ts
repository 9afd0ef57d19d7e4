import { describe, expect, it } from "vitest";
import type { Failure } from "../../transport/failure.ts";
import { modelName, parseModel } from "./parse.ts";
import { ModelRouter, type ModelChange, type ModelPool } from "./router.ts";

const names = ["anthropic/claude-sonnet-5", "openai/gpt-5", "google/gemini-3-pro"];
const pool = (strategy: ModelPool["strategy"]): ModelPool => ({
  models: names.map(parseModel),
  strategy,
  cooldown: 60_000,
});
const describeChange = (change: ModelChange | undefined): string | undefined =>
  change && `${modelName(change.from)} -> ${modelName(change.to)} (${change.reason.type})`;

const [first = "", second = "", third = ""] = names;
const who = { provider: "anthropic", label: "Anthropic" };
const overloaded: Failure = { ...who, kind: "overloaded" };

describe("a model router", () => {
  it("fails over to the next model of a pool, and to none when all have failed", () => {
    const router = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    expect(router.startTurn()).toBeUndefined();
    expect(describeChange(router.recordFailure(overloaded))).toBe(`${first} -> ${second} (failover)`);
    expect(describeChange(router.recordFailure(overloaded))).toBe(`${second} -> ${third} (failover)`);
    expect(router.recordFailure(overloaded)).toBeUndefined();
    expect(modelName(router.current)).toBe(third);
  });

  it("returns to the preferred model with a new turn, once its cooldown is over", () => {
    let now = 0;
    const router = new ModelRouter(pool("failover"), { elapsed: () => now });
    router.startTurn();
    router.recordFailure(overloaded);
    now = 59_999;
    expect(router.startTurn()).toBeUndefined();
    now = 60_000;
    expect(describeChange(router.startTurn())).toBe(`${second} -> ${first} (recovered)`);
  });

  it("does not use a model for as long as its provider asks", () => {
    let now = 0;
    const router = new ModelRouter(pool("failover"), { elapsed: () => now });
    router.startTurn();
    router.recordFailure({ ...who, kind: "rate-limited", retryAfter: 100_000 });
    now = 99_999;
    expect(router.startTurn()).toBeUndefined();
    now = 100_000;
    expect(describeChange(router.startTurn())).toBe(`${second} -> ${first} (recovered)`);
  });

  it("rotates through the models, one turn each", () => {
    const router = new ModelRouter(pool("round-robin"), { elapsed: () => 0 });
    const turns = Array.from({ length: 5 }, () => (router.startTurn(), modelName(router.current)));
    expect(turns).toEqual([first, second, third, first, second]);
  });

  it("does not fail over after a request that was invalid, too long or cancelled", () => {
    const kinds: readonly Failure[] = [
      { ...who, kind: "refused", status: 400, rules: [] },
      { ...who, kind: "context-too-long" },
      { ...who, kind: "filtered" },
      { ...who, kind: "cancelled" },
    ];
    for (const failure of kinds) {
      const router = new ModelRouter(pool("failover"), { elapsed: () => 0 });
      expect(router.recordFailure(failure), failure.kind).toBeUndefined();
    }
  });

  it("fails over if the model does not exist", () => {
    const router = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    expect(describeChange(router.recordFailure({ ...who, kind: "refused", status: 404, rules: [] }))).toBe(
      `${first} -> ${second} (failover)`,
    );
  });

  it("switches to the model the person chooses, even during its cooldown", () => {
    const router = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    router.startTurn();
    router.recordFailure(overloaded);
    expect(describeChange(router.switchTo(pool("failover"), parseModel(first)))).toBe(
      `${second} -> ${first} (requested)`,
    );
    expect(router.startTurn()).toBeUndefined();
  });

  it("stays with the model the person chose when the one before it fails, which gets a cooldown", () => {
    const router = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    router.startTurn();
    router.switchTo(pool("failover"), parseModel(second));
    expect(router.recordFailure(overloaded, parseModel(first))).toBeUndefined();
    expect(modelName(router.current)).toBe(second);
    router.startTurn();
    expect(modelName(router.current)).toBe(second);
  });

  it("returns to the model the person chose, not to the first of the pool", () => {
    let now = 0;
    const router = new ModelRouter(pool("failover"), { elapsed: () => now });
    router.switchTo(pool("failover"), parseModel(second));
    expect(router.startTurn()).toBeUndefined();
    expect(describeChange(router.recordFailure(overloaded))).toBe(`${second} -> ${third} (failover)`);
    now = 60_000;
    expect(describeChange(router.startTurn())).toBe(`${third} -> ${second} (recovered)`);
  });
});
