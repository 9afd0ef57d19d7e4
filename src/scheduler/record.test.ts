import { describe, expect, it } from "vitest";
import { call, createHarness, waitingTool, type ToolRun, type SchedulerHarness } from "./harness.cases.ts";

/** A record that is durable when the test says so. */
const recording = () => {
  let asked = 0;
  let resolve = (): void => {};
  let reject: (reason: Error) => void = () => undefined;
  const recorded = new Promise<void>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  const record = (): Promise<void> => {
    asked += 1;
    return recorded;
  };
  return {
    record: { recordRequest: record, recordQuestion: record, recordAnswer: record },
    resolve,
    reject,
    asked: () => asked,
  };
};

const looking = (at: SchedulerHarness): void =>
  void at.registry.set("look", { tool: { ...waitingTool("read", at.runs as ToolRun[], "look"), isReadOnly: true } });

describe("a requested call is recorded", () => {
  it("before any side effect, though not before the gate decides", async () => {
    const at = createHarness({ mode: "yolo" });
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const { record, resolve } = recording();
    const batch = at.scheduler.schedule([one], undefined, record);
    await at.settle();
    expect(at.states(one)).toEqual(["validating", "scheduled"]);
    expect(at.runs).toEqual([]);
    resolve();
    await at.settle();
    at.run("a").finish();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["complete"]);
  });

  it("before the user is asked", async () => {
    const at = createHarness();
    const one = call(1, "execute", { name: "make" });
    const { record, resolve } = recording();
    const batch = at.scheduler.schedule([one], undefined, record);
    await at.settle();
    expect(at.scheduler.pendingApprovals()).toEqual([]);
    expect(at.states(one)).toEqual(["validating"]);
    resolve();
    await at.settle();
    expect(at.scheduler.pendingApprovals()).toHaveLength(1);
    at.scheduler.decide(one.id, { type: "refuse" });
    await batch;
  });

  it("not at all for a read-only call, which does not wait for it", async () => {
    const at = createHarness();
    looking(at);
    const { record, asked } = recording();
    const batch = at.scheduler.schedule([call(1, "look", { name: "b" })], undefined, record);
    await at.settle();
    at.run("b").finish();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["complete"]);
    expect(asked()).toBe(0);
  });

  it("or does not run", async () => {
    const at = createHarness({ mode: "yolo" });
    looking(at);
    const { record, reject } = recording();
    const calls = [call(1, "write", { name: "a", path: "a.txt" }), call(2, "look", { name: "b" })];
    const batch = at.scheduler.schedule(calls, undefined, record);
    await at.settle();
    at.run("b").finish();
    reject(new Error("The disk is full."));
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["error", "complete"]);
    expect(at.runs.map(({ name }) => name)).toEqual(["b"]);
  });

  it("and ends at once if it is stopped meanwhile", async () => {
    const at = createHarness({ mode: "yolo" });
    const { record } = recording();
    const batch = at.scheduler.schedule([call(1, "write", { name: "a", path: "a.txt" })], undefined, record);
    await at.settle();
    await at.scheduler.cancel();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["cancelled"]);
  });
});
