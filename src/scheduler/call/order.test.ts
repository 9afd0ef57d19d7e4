import { describe, expect, it } from "vitest";
import { call, createHarness, type SchedulerHarness } from "../harness.cases.ts";
import { fc } from "../../../test/support/fast-check.ts";

const running = ({ runs }: SchedulerHarness): readonly string[] => runs.map(({ name }) => name);
const read = (ordinal: number, name: string, path: string) => call(ordinal, "read", { name, path });
const write = (ordinal: number, name: string, path: string) => call(ordinal, "write", { name, path });
const execute = (ordinal: number, name: string) => call(ordinal, "execute", { name });

describe("calls of one batch", () => {
  it("run in parallel where they touch different resources", async () => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([
      read(1, "a", "a.txt"),
      write(2, "b", "b.txt"),
      call(3, "network", { name: "c" }),
      read(4, "d", "a.txt"),
      write(5, "e", "sub/e.txt"),
    ]);
    await at.settle();
    expect(running(at).toSorted()).toEqual(["a", "b", "c", "d", "e"]);
    at.runs.toReversed().forEach(({ finish }) => finish());
    expect((await batch).map(({ call: { id } }) => id)).toEqual([1, 2, 3, 4, 5].map((n) => `hist_tool_${n}`));
  });

  it("take as long as the slowest, not the sum", async () => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([1, 2, 3, 4, 5].map((ordinal) => execute(ordinal, `sleep ${ordinal}`)));
    await at.settle();
    for (const { name, finish } of at.runs) void at.world.clock.sleep(Number(name.slice(6)) * 200).then(() => finish());
    const finished = await at.world.run(batch);
    expect(finished.map(({ duration }) => duration)).toEqual([200, 400, 600, 800, 1000]);
  });

  type Step = readonly [tool: string, path: string];
  const rows: readonly (readonly [what: string, first: Step, second: Step])[] = [
    ["a write after a write", ["write", "a.txt"], ["write", "a.txt"]],
    ["a read after a write", ["write", "a.txt"], ["read", "a.txt"]],
    ["a write after a read", ["read", "a.txt"], ["write", "a.txt"]],
    ["a write under another name", ["write", "a.txt"], ["write", "link.txt"]],
    ["a write by its full path", ["write", "a.txt"], ["write", "/site/./sub/../a.txt"]],
    ["a look at the folder after a write in it", ["write", "sub/a.txt"], ["read", "sub"]],
    ["a look at everything after a write", ["write", "sub/a.txt"], ["read", "."]],
    ["a write below a folder that is made", ["write", "sub"], ["write", "sub/a.txt"]],
    ["a command after a write", ["write", "a.txt"], ["execute", ""]],
  ];
  it.each(rows)("run one after the other: %s", async (_, [first, one], [second, other]) => {
    const at = createHarness({ mode: "yolo" });
    const make = (ordinal: number, tool: string, name: string, path: string) =>
      call(ordinal, tool, tool === "execute" ? { name } : { name, path });
    const batch = at.scheduler.schedule([make(1, first, "one", one), make(2, second, "two", other)]);
    await at.settle();
    expect(running(at)).toEqual(["one"]);
    at.run("one").finish();
    await at.settle();
    expect(running(at)).toEqual(["one", "two"]);
    at.run("two").finish();
    await batch;
  });

  it.each([
    ["names that only begin alike", write(1, "one", "sub"), write(2, "two", "sub-other")],
    ["a write after a command, which may never end", execute(1, "one"), write(2, "two", "a.txt")],
    ["two commands", execute(1, "one"), execute(2, "two")],
    ["two reads", read(1, "one", "a.txt"), read(2, "two", "a.txt")],
  ])("do not wait for what does not concern them: %s", async (_, call, two) => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([call, two]);
    await at.settle();
    expect(running(at)).toEqual(["one", "two"]);
    at.runs.forEach(({ finish }) => finish());
    await batch;
  });

  it("do not wait for the approval of another", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([write(1, "a", "a.txt"), read(2, "b", "b.txt"), execute(3, "make")]);
    await at.settle();
    expect([running(at), at.scheduler.pendingApprovals().length]).toEqual([["b"], 2]);
    at.scheduler.decide("hist_tool_3", { type: "once" });
    await at.settle();
    expect(at.states(execute(3, ""))).toEqual(["validating", "awaiting_approval", "scheduled"]);
    at.scheduler.decide("hist_tool_1", { type: "once" });
    await at.settle();
    at.run("a").finish();
    await at.settle();
    expect(running(at)).toEqual(["b", "a", "make"]);
    at.runs.forEach(({ finish }) => finish());
    await batch;
  });

  it("are approved in order: an edit after an edit shows the file as the first left it", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([
      call(1, "write_file", { file_path: "a.txt", content: "one\n" }),
      call(2, "write_file", { file_path: "a.txt", content: "two\n" }),
    ]);
    await at.approvalsRequested();
    expect(at.scheduler.pendingApprovals().map(({ call: id }) => id)).toEqual(["hist_tool_1"]);
    at.scheduler.decide("hist_tool_1", { type: "once" });
    await at.approvalsRequested();
    expect(at.scheduler.pendingApprovals()[0]?.approval.subject).toMatchObject({ before: "one\n", after: "two\n" });
    at.scheduler.decide("hist_tool_2", { type: "once" });
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["complete", "complete"]);
    expect(at.files.get("/site/a.txt")).toBe("two\n");
  });

  it("run when the one they waited for is refused, fails or is invalid", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([
      call(1, "write", { name: 5, path: "a.txt" }),
      write(2, "refused", "a.txt"),
      write(3, "crashes", "a.txt"),
      read(4, "last", "a.txt"),
    ]);
    await at.settle();
    at.scheduler.decide("hist_tool_2", { type: "refuse" });
    await at.settle();
    at.scheduler.decide("hist_tool_3", { type: "once" });
    await at.settle();
    at.run("crashes").crash(new Error("oops"));
    await at.settle();
    at.run("last").finish();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["error", "cancelled", "error", "complete"]);
  });

  it("that write without naming a path run one after the other", async () => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([
      call(1, "write", { name: "one" }),
      call(2, "write", { name: "two" }),
      write(3, "three", "a.txt"),
    ]);
    await at.settle();
    expect(running(at)).toEqual(["one", "three"]);
    at.run("one").finish();
    await at.settle();
    expect(running(at)).toEqual(["one", "three", "two"]);
    at.runs.forEach(({ finish }) => finish());
    await batch;
  });

  it("keep the order across batches as well", async () => {
    const at = createHarness({ mode: "yolo" });
    const batches = [
      at.scheduler.schedule([write(1, "one", "a.txt")]),
      at.scheduler.schedule([read(2, "two", "a.txt")]),
    ];
    await at.settle();
    expect(running(at)).toEqual(["one"]);
    at.run("one").finish();
    await at.settle();
    at.run("two").finish();
    await Promise.all(batches);
  });
});

describe("commands", () => {
  it("run no more at once than there are slots, and in call order", async () => {
    const at = createHarness({ mode: "yolo", processes: 2 });
    const batch = at.scheduler.schedule([1, 2, 3, 4].map((ordinal) => execute(ordinal, `c${ordinal}`)));
    await at.settle();
    expect(running(at)).toEqual(["c1", "c2"]);
    at.run("c2").finish();
    await at.settle();
    expect(running(at)).toEqual(["c1", "c2", "c3"]);
    at.run("c1").crash(new Error("x"));
    at.run("c3").finish();
    await at.settle();
    at.run("c4").finish();
    expect((await batch).map(({ outcome }) => outcome.status)).toEqual(["error", "complete", "complete", "complete"]);
  });

  it("release their slot when cancelled while they wait for it", async () => {
    const at = createHarness({ mode: "yolo", processes: 1 });
    const stop = new AbortController();
    const first = at.scheduler.schedule([execute(1, "one")]);
    const second = at.scheduler.schedule([execute(2, "two")], stop.signal);
    const third = at.scheduler.schedule([execute(3, "three")]);
    await at.settle();
    stop.abort();
    await second;
    at.run("one").finish();
    await at.settle();
    expect(running(at)).toEqual(["one", "three"]);
    at.run("three").finish();
    await Promise.all([first, third]);
  });

  it("of any number end, whatever the limit and the order", async () => {
    const order = fc.array(fc.nat(5), { maxLength: 12 });
    const promise = fc.asyncProperty(fc.integer({ min: 1, max: 4 }), order, async (processes, picks) => {
      const at = createHarness({ mode: "yolo", processes });
      const batch = at.scheduler.schedule(picks.map((_, index) => execute(index + 1, `c${index}`)));
      const open = new Set<string>();
      for (const [ended, pick] of picks.entries()) {
        await at.settle();
        for (const name of running(at).slice(open.size + ended)) open.add(name);
        expect(open.size).toBe(Math.min(processes, picks.length - ended));
        const chosen = [...open][pick % open.size] ?? "";
        open.delete(chosen);
        at.run(chosen).finish();
      }
      expect((await batch).length).toBe(picks.length);
    });
    await fc.assert(promise, { numRuns: 40 });
  });
});
