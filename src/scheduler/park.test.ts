import { describe, expect, it } from "vitest";
import type { CallRecorder } from "./call/recorder.ts";
import { call, createHarness } from "./harness.cases.ts";

/** A recorder that lists what it was given. */
const createRecorder = (): { readonly recorder: CallRecorder; readonly records: string[] } => {
  const records: string[] = [];
  return {
    records,
    recorder: {
      recordRequest: async () => undefined,
      recordQuestion: async (id, approval) => void records.push(`asked ${id}: ${approval?.title ?? "follows another"}`),
      recordAnswer: async (id, answer) => void records.push(`decided ${id}: ${answer.type}`),
    },
  };
};

describe("a parked batch", () => {
  it("sets aside calls that wait for the user, and those that must follow them, in any order of arrival", async () => {
    const at = createHarness();
    const { recorder, records } = createRecorder();
    const batch = at.scheduler.schedule(
      [
        call(1, "write", { name: "a", path: "a.txt" }),
        call(2, "write", { name: "b", path: "a.txt" }),
        call(3, "read", { name: "c", path: "c.txt" }),
      ],
      undefined,
      recorder,
    );
    await at.settle();
    const parked = at.scheduler.park();
    await at.settle();
    at.run("c").finish();
    await parked;

    expect((await batch).map(({ call: { id } }) => id)).toEqual(["hist_tool_3"]);
    expect(at.runs.map(({ name }) => name)).toEqual(["c"]);
    expect(records).toEqual(["asked hist_tool_1: Does a", "asked hist_tool_2: follows another"]);
    expect(at.scheduler.pendingApprovals()).toEqual([]);
  });

  it("is not cancelled any more, but what runs is", async () => {
    const at = createHarness();
    const { recorder, records } = createRecorder();
    const batch = at.scheduler.schedule(
      [call(1, "execute", { name: "make" }), call(2, "read", { name: "c", path: "c.txt" })],
      undefined,
      recorder,
    );
    await at.settle();
    void at.scheduler.park();
    await at.scheduler.cancel();

    expect((await batch).map(({ call: { id }, outcome }) => [id, outcome.status])).toEqual([
      ["hist_tool_2", "cancelled"],
    ]);
    expect(records).toEqual(["asked hist_tool_1: Does make"]);
  });

  it("records an answer before the call begins", async () => {
    const at = createHarness();
    const { recorder, records } = createRecorder();
    let release = (): void => {};
    const durable = new Promise<void>((resolve) => (release = resolve));
    const one = call(1, "execute", { name: "make" });
    const batch = at.scheduler.schedule([one], undefined, {
      ...recorder,
      recordAnswer: async (id, answer) => {
        await recorder.recordAnswer(id, answer);
        await durable;
      },
    });
    await at.settle();
    at.scheduler.decide(one.id, { type: "once" });
    await at.settle();
    expect([records.at(-1), at.runs]).toEqual(["decided hist_tool_1: once", []]);

    release();
    await at.settle();
    at.run("make").finish();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["complete"]);
  });
});
