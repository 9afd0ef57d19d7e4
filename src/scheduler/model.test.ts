import { describe, expect, it } from "vitest";
import type { CallId } from "../conversation/parts.ts";
import type { FinishedCall } from "./events.ts";
import { call, createHarness, type ToolRun, type SchedulerHarness } from "./harness.cases.ts";
import { fc } from "../../test/support/fast-check.ts";
import { perTier } from "../../test/support/tier.ts";

const runs = perTier({ quick: 50, all: 1000 });

const processes = 2;
const toolTime = 60_000;

/** A call as the model knows it: its kind, and what was done to it. */
type Known = {
  readonly id: CallId;
  readonly tool: Kind;
  readonly path: string;
  readonly batch: number;
  isPermitted: boolean;
  end: "success" | "error" | "cancelled" | undefined;
};

const kinds = ["read", "write", "edit", "execute", "unknown", "invalid"] as const;
type Kind = (typeof kinds)[number];

class Model {
  readonly calls: Known[] = [];
  readonly always = new Set<Kind>();
  batches = 0;
}

class Real {
  readonly at: SchedulerHarness = createHarness({ processes, toolTime });
  readonly stops: AbortController[] = [];
  readonly results: Promise<readonly FinishedCall[]>[] = [];

  /** When each call entered each state, by the order of events. */
  readonly #entered = new Map<CallId, Map<string, number>>();
  readonly #finishes = new Map<CallId, FinishedCall[]>();

  constructor() {
    let order = 0;
    this.at.scheduler.listen((event) => {
      if (event.type !== "call-changed") return;
      const { call: id, status } = event;
      this.#entered.set(id, (this.#entered.get(id) ?? new Map()).set(status.state, order++));
      if ("finished" in status) this.#finishes.set(id, [...this.finishes(id), status.finished]);
    });
  }

  lastOf(id: CallId): string | undefined {
    return this.at.states({ id }).at(-1);
  }

  enteredAt(id: CallId, state: string): number {
    return this.#entered.get(id)?.get(state) ?? -1;
  }

  finishes(id: CallId): readonly FinishedCall[] {
    return this.#finishes.get(id) ?? [];
  }

  running(): readonly ToolRun[] {
    return this.at.runs.filter(({ name }) => this.lastOf(name.split(" ").at(-1) as CallId) === "executing");
  }

  over(): readonly ToolRun[] {
    return this.at.runs.filter(({ name }) => this.lastOf(name.split(" ").at(-1) as CallId) !== "executing");
  }
}

const writes = ({ tool }: Known): boolean => tool === "write" || tool === "edit";
const makesSense = ({ tool }: Known): boolean => tool !== "unknown" && tool !== "invalid";

/** The promised order, implemented differently than in the scheduler. */
const follows = (later: Known, earlier: Known): boolean => {
  if (!makesSense(later) || !makesSense(earlier)) return false;
  if (later.tool === "execute") return writes(earlier);
  if (earlier.tool === "execute") return false;
  return later.path === earlier.path && (writes(later) || writes(earlier));
};

const legal: Readonly<Record<string, readonly string[]>> = {
  "": ["validating"],
  validating: ["awaiting_approval", "scheduled", "error", "cancelled"],
  awaiting_approval: ["awaiting_approval", "scheduled", "cancelled"],
  scheduled: ["executing", "cancelled"],
  executing: ["success", "error", "cancelled"],
  success: [],
  error: [],
  cancelled: [],
};

/** Checks every invariant of the scheduler. */
const check = (model: Model, real: Real): void => {
  for (const [index, known] of model.calls.entries()) {
    const states = real.at.states(known);
    states.reduce((from, to) => {
      must(legal[from]?.includes(to) === true, `${known.id} went from ${from} to ${to}`);
      return to;
    }, "");
    checkEnd(known, real);
    const before = model.calls.slice(0, index).filter((earlier) => follows(known, earlier));
    checkOrder(known, before, real);
    checkProgress(known, before, real);
  }
  checkPlaces(model, real);
  const waiting = model.calls.filter(({ id }) => real.lastOf(id) === "awaiting_approval");
  must(
    String(real.at.scheduler.pendingApprovals().map(({ call: id }) => id)) === String(waiting.map(({ id }) => id)),
    "waiting",
  );
};

/** Cheaper than an assertion of the test runner, of which there would be a million. */
const must = (holds: boolean, otherwise: string): void => {
  if (!holds) throw new Error(otherwise);
};

/**
 * A call that ended did so once, for a reason the model knows; one that has not ended has no result. Nothing runs
 * without permission.
 */
const checkEnd = (known: Known, real: Real): void => {
  const states = real.at.states(known);
  const finishes = real.finishes(known.id);
  must(
    known.isPermitted || !(states.includes("scheduled") || states.includes("executing")),
    `${known.id} was not permitted`,
  );
  if (finishes[0]?.error?.type === "timeout") {
    must(states.includes("executing") && finishes[0].duration >= toolTime, `${known.id} had time left`);
    known.end ??= "error";
  }
  must(finishes.length === (known.end === undefined ? 0 : 1), `${known.id} ended ${finishes.length} times`);
  must(
    known.end === undefined || states.at(-1) === known.end,
    `${known.id} ended as ${states.at(-1)}, not ${known.end}`,
  );
};

/** Calls that touch the same path run one after the other. */
const checkOrder = ({ id }: Known, before: readonly Known[], real: Real): void => {
  const began = real.enteredAt(id, "executing");
  for (const earlier of before) {
    const ended = Math.max(...["success", "error", "cancelled"].map((state) => real.enteredAt(earlier.id, state)));
    must(began === -1 || (ended !== -1 && ended < began), `${id} began before ${earlier.id} ended`);
  }
};

/** No call waits without a reason. */
const checkProgress = (known: Known, before: readonly Known[], real: Real): void => {
  if (known.end !== undefined) return;
  const last = real.lastOf(known.id);
  const isNext = before.every(({ end }) => end !== undefined);
  if (!known.isPermitted && (isNext || !writes(known)))
    must(last === "awaiting_approval", `${known.id} is not asked about`);
  if (!known.isPermitted && !isNext && writes(known))
    must(last === "validating", `${known.id} is asked about too early`);
  if (known.isPermitted && isNext)
    must(last === "executing" || (known.tool === "execute" && last === "scheduled"), `${known.id} is held up`);
};

/** Commands run up to their limit, and only the limit makes one wait. */
const checkPlaces = (model: Model, real: Real): void => {
  const inState = (state: string) =>
    model.calls.filter(({ id, tool }) => tool === "execute" && real.lastOf(id) === state);
  const running = inState("executing").length;
  must(running <= processes, `${running} commands run at once`);
  const held = inState("scheduled").filter((known) =>
    model.calls.every((other) => other.end !== undefined || !isBefore(other, known, model)),
  );
  must(held.length === 0 || running === processes, "a command is held up");
};

const isBefore = (other: Known, known: Known, { calls }: Model): boolean =>
  calls.indexOf(other) < calls.indexOf(known) && follows(known, other);

type Step = fc.AsyncCommand<Model, Real>;

/** A step that performs an action, runs everything that can run, and then checks the invariants. */
const step = (name: string, run: (model: Model, real: Real) => void | Promise<void>): Step => ({
  check: () => true,
  toString: () => name,
  run: async (model, real) => {
    await run(model, real);
    await real.at.settle();
    check(model, real);
  },
});

const picked = <Item>(items: readonly Item[], pick: number): Item | undefined =>
  items[pick % Math.max(1, items.length)];

const knownOf = (model: Model, id: CallId): Known => {
  const known = model.calls.find((each) => each.id === id);
  if (known === undefined) throw new Error(`${id} is not known.`);
  return known;
};

const inputs = (kind: Kind, id: CallId, path: string, stubborn: boolean) => {
  if (kind === "invalid") return { name: 5 };
  if (kind === "execute") return { name: `make ${id}`, stubborn };
  return { name: `n ${id}`, path, stubborn, ...(kind === "edit" ? { text: "one\n" } : {}) };
};

type Wanted = { readonly kind: Kind; readonly path: string; readonly stubborn: boolean };

const scheduled = (wanted: readonly Wanted[]): Step =>
  step(`schedule ${JSON.stringify(wanted)}`, (model, real) => {
    const batch = model.batches++;
    const calls = wanted.map(({ kind, path, stubborn }) => {
      const ordinal = model.calls.length + 1;
      const made = call(
        ordinal,
        kind === "invalid" ? "read" : kind,
        inputs(kind, `hist_tool_${ordinal}`, path, stubborn),
      );
      model.calls.push({
        id: made.id,
        tool: kind,
        path,
        batch,
        isPermitted: kind === "read" || model.always.has(kind),
        end: kind === "invalid" || kind === "unknown" ? "error" : undefined,
      });
      return made;
    });
    const stop = new AbortController();
    real.stops.push(stop);
    real.results.push(real.at.scheduler.schedule(calls, stop.signal));
  });

const approved = (pick: number): Step =>
  step(`approve ${pick}`, (model, real) => {
    const waiting = picked(real.at.scheduler.pendingApprovals(), pick);
    if (waiting === undefined) return;
    knownOf(model, waiting.call).isPermitted = true;
    real.at.scheduler.decide(waiting.call, { type: "once" });
  });

const always = (pick: number): Step =>
  step(`always ${pick}`, (model, real) => {
    const waiting = picked(real.at.scheduler.pendingApprovals(), pick);
    if (waiting === undefined) return;
    const { tool } = knownOf(model, waiting.call);
    const covered: readonly Kind[] = tool === "execute" ? ["execute"] : ["write", "edit"];
    for (const kind of covered) model.always.add(kind);
    for (const known of model.calls)
      if (covered.includes(known.tool) && known.end === undefined) known.isPermitted = true;
    real.at.scheduler.decide(waiting.call, {
      type: "always",
      rule: tool === "execute" ? "command" : "edits",
      scope: "session",
    });
  });

const refused = (pick: number): Step =>
  step(`refuse ${pick}`, (model, real) => {
    const waiting = picked(real.at.scheduler.pendingApprovals(), pick);
    if (waiting === undefined) return;
    knownOf(model, waiting.call).end = "cancelled";
    real.at.scheduler.decide(waiting.call, { type: "refuse", reason: "no" });
  });

const edited = (pick: number): Step =>
  step(`edit ${pick}`, (_, real) => {
    const waiting = picked(real.at.scheduler.pendingApprovals(), pick);
    if (waiting !== undefined) real.at.scheduler.decide(waiting.call, { type: "edit", text: "two\n" });
  });

const isOpen = ({ end }: Known): boolean => end === undefined;

/** After a cancel everything is idle within half a second. */
const cancelled = (how: "answer" | "signal" | "all", pick: number): Step =>
  step(`cancel ${how} ${pick}`, async (model, real) => {
    const waiting = picked(real.at.scheduler.pendingApprovals(), pick);
    const batch = how === "answer" ? waiting && knownOf(model, waiting.call).batch : pick % Math.max(1, model.batches);
    if (batch === undefined || model.batches === 0) return;
    const ended = model.calls.filter((known) => isOpen(known) && (how === "all" || known.batch === batch));
    for (const known of ended) known.end = "cancelled";
    if (how === "answer" && waiting !== undefined) real.at.scheduler.decide(waiting.call, { type: "cancel" });
    if (how === "signal") real.stops[batch]?.abort();
    const idle = how === "all" ? real.at.scheduler.cancel() : Promise.resolve();
    await real.at.settle();
    await real.at.advance(500);
    await idle;
    await real.at.settle();
    for (const { id } of ended) expect(real.lastOf(id)).toBe("cancelled");
  });

const ends = (how: "finish" | "crash", pick: number): Step =>
  step(`${how} ${pick}`, (model, real) => {
    const run = picked(real.running(), pick);
    if (run === undefined) return;
    knownOf(model, run.name.split(" ").at(-1) as CallId).end = how === "finish" ? "success" : "error";
    if (how === "finish") run.finish();
    else run.crash(new Error("oops"));
  });

const prints = (when: "running" | "over", pick: number): Step =>
  step(`print ${when} ${pick}`, (_, real) => {
    const run = picked(when === "running" ? real.running() : real.over(), pick);
    const before = real.at.events.length;
    run?.can.report("words ");
    if (when === "over") {
      run?.finish();
      expect(real.at.events.length).toBe(before);
    }
  });

const passes = (ms: number): Step =>
  step(`${ms} ms pass`, async (_, real) => {
    await real.at.advance(ms);
    // A tool that ignores its signal gets a grace period.
    await real.at.settle();
    await real.at.advance(400);
  });

const pick = fc.nat(20);
const wanted = fc.record({
  kind: fc.constantFrom(...kinds),
  path: fc.constantFrom("x.txt", "y.txt"),
  stubborn: fc.boolean(),
});
const steps = fc.commands(
  [
    fc.array(wanted, { maxLength: 4 }).map(scheduled),
    fc.array(wanted, { minLength: 1, maxLength: 4 }).map(scheduled),
    pick.map(approved),
    pick.map(approved),
    pick.map(always),
    pick.map(refused),
    pick.map(edited),
    fc
      .tuple(fc.constantFrom("answer" as const, "signal" as const, "all" as const), pick)
      .map((given) => cancelled(...given)),
    fc.tuple(fc.constantFrom("finish" as const, "crash" as const), pick).map((given) => ends(...given)),
    fc.tuple(fc.constantFrom("finish" as const), pick).map((given) => ends(...given)),
    fc.tuple(fc.constantFrom("running" as const, "over" as const), pick).map((given) => prints(...given)),
    fc.constantFrom(100, 1000, 20_000, 61_000).map(passes),
  ],
  { size: "+1" },
);

describe("the scheduler, whatever happens and in whatever order", () => {
  it("runs nothing unapproved, ends every call once, keeps the order of each file, and is idle after a cancel", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (commands) => {
        const model = new Model();
        const real = new Real();
        await fc.asyncModelRun(() => ({ model, real }), commands);
        await cancelled("all", 0).run(model, real);
        const batches = await Promise.all(real.results);
        expect(batches.flat().map(({ call: { id } }) => id)).toEqual(model.calls.map(({ id }) => id));
        expect(batches.flat().map(({ outcome }) => outcome.status)).toEqual(
          model.calls.map(({ end }) => (end === "success" ? "complete" : end)),
        );
        expect(outputGaps(real.at)).toEqual([]);
      }),
      { numRuns: runs },
    );
  });
});

/** Live output reported less than a second after the last. Events carry no time, so the harness notes it. */
const outputGaps = (at: SchedulerHarness): readonly number[] => {
  const told = new Map<CallId, number>();
  return at.outputs.flatMap(({ call: id, time }) => {
    const gap = time - (told.get(id) ?? Number.NEGATIVE_INFINITY);
    told.set(id, time);
    return gap < 1000 ? [gap] : [];
  });
};
