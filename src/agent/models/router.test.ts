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
const shown = (change: ModelChange | undefined): string | undefined =>
  change && `${modelName(change.from)} -> ${modelName(change.to)} (${change.reason.type})`;

const [first = "", second = "", third = ""] = names;
const who = { provider: "anthropic", label: "Anthropic" };
const overloaded: Failure = { ...who, kind: "overloaded" };

describe("a route", () => {
  it("goes to the next model of a pool when one fails, and to nobody when all have", () => {
    const route = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    expect(route.startTurn()).toBeUndefined();
    expect(shown(route.recordFailure(overloaded))).toBe(`${first} -> ${second} (failover)`);
    expect(shown(route.recordFailure(overloaded))).toBe(`${second} -> ${third} (failover)`);
    expect(route.recordFailure(overloaded)).toBeUndefined();
    expect(modelName(route.current)).toBe(third);
  });

  it("goes back to the preferred model with a new turn, once it has rested", () => {
    let now = 0;
    const route = new ModelRouter(pool("failover"), { elapsed: () => now });
    route.startTurn();
    route.recordFailure(overloaded);
    now = 59_999;
    expect(route.startTurn()).toBeUndefined();
    now = 60_000;
    expect(shown(route.startTurn())).toBe(`${second} -> ${first} (recovered)`);
  });

  it("leaves a model alone for as long as its provider asks", () => {
    let now = 0;
    const route = new ModelRouter(pool("failover"), { elapsed: () => now });
    route.startTurn();
    route.recordFailure({ ...who, kind: "rate-limited", retryAfter: 100_000 });
    now = 99_999;
    expect(route.startTurn()).toBeUndefined();
    now = 100_000;
    expect(shown(route.startTurn())).toBe(`${second} -> ${first} (recovered)`);
  });

  it("takes each model in turn, a turn of the person each", () => {
    const route = new ModelRouter(pool("round-robin"), { elapsed: () => 0 });
    const turns = Array.from({ length: 5 }, () => (route.startTurn(), modelName(route.current)));
    expect(turns).toEqual([first, second, third, first, second]);
  });

  it("asks nobody else what was found wrong, too long or stopped", () => {
    const kinds: readonly Failure[] = [
      { ...who, kind: "refused", status: 400, rules: [] },
      { ...who, kind: "context-too-long" },
      { ...who, kind: "filtered" },
      { ...who, kind: "cancelled" },
    ];
    for (const failure of kinds) {
      const route = new ModelRouter(pool("failover"), { elapsed: () => 0 });
      expect(route.recordFailure(failure), failure.kind).toBeUndefined();
    }
  });

  it("asks somebody else where the model is not there", () => {
    const route = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    expect(shown(route.recordFailure({ ...who, kind: "refused", status: 404, rules: [] }))).toBe(
      `${first} -> ${second} (failover)`,
    );
  });

  it("moves to a model that was asked for, even one that rests", () => {
    const route = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    route.startTurn();
    route.recordFailure(overloaded);
    expect(shown(route.switchTo(pool("failover"), parseModel(first)))).toBe(`${second} -> ${first} (asked)`);
    expect(route.startTurn()).toBeUndefined();
  });

  it("stays with a model chosen by hand while the one before it fails, which rests", () => {
    const route = new ModelRouter(pool("failover"), { elapsed: () => 0 });
    route.startTurn();
    route.switchTo(pool("failover"), parseModel(second));
    expect(route.recordFailure(overloaded, parseModel(first))).toBeUndefined();
    expect(modelName(route.current)).toBe(second);
    route.startTurn();
    expect(modelName(route.current)).toBe(second);
  });

  it("goes back to the model chosen by hand, not to the first of the pool", () => {
    let now = 0;
    const route = new ModelRouter(pool("failover"), { elapsed: () => now });
    route.switchTo(pool("failover"), parseModel(second));
    expect(route.startTurn()).toBeUndefined();
    expect(shown(route.recordFailure(overloaded))).toBe(`${second} -> ${third} (failover)`);
    now = 60_000;
    expect(shown(route.startTurn())).toBe(`${third} -> ${second} (recovered)`);
  });
});
