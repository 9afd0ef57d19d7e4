import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { PolicyError } from "../../policy/error.ts";
import { ToolFailure, type ToolResult } from "../../tools/tool.ts";
import type { FinishedCall } from "../events.ts";
import { finishCall } from "./finish.ts";
import { call, createHarness, type SchedulerHarness, type SchedulerHarnessOptions } from "../harness.cases.ts";

const one = call(1, "read", { name: "a" });
const stubborn = call(1, "read", { name: "a", stubborn: true });
const said = ({ outcome }: FinishedCall): readonly unknown[] => [
  outcome.status,
  ...outcome.content.map((part) => (part.type === "text" ? part.text : part)),
];
const outputs = ({ events }: SchedulerHarness): readonly string[] =>
  events.flatMap((event) => (event.type === "call-output" ? [event.text] : []));

/** A batch of one running call. */
const running = async (what = one, options: SchedulerHarnessOptions = { mode: "yolo" }) => {
  const at = createHarness(options);
  const stop = new AbortController();
  const batch = at.scheduler.schedule([what], stop.signal);
  await at.settle();
  const finished = batch.then(([only]) => only as FinishedCall);
  return { at, stop, finished };
};

describe("cancelling", () => {
  it("ends running calls with their output, pending approvals, and calls not started yet", async () => {
    const at = createHarness({ processes: 1 });
    const calls = [
      call(1, "read", { name: "runs", path: "a.txt" }),
      call(2, "write", { name: "waits", path: "b.txt" }),
      call(3, "write", { name: "is behind", path: "a.txt" }),
    ];
    const stop = new AbortController();
    const batch = at.scheduler.schedule(calls, stop.signal);
    await at.settle();
    at.run("runs").can.report("half of it");
    stop.abort();
    expect((await batch).map(said)).toEqual([
      ["cancelled", "This call was cancelled while it ran. Output until then:\nhalf of it"],
      ["cancelled", "This call was cancelled before it ran."],
      ["cancelled", "This call was cancelled before it ran."],
    ]);
    expect([at.runs.length, at.scheduler.pendingApprovals()]).toEqual([1, []]);
  });

  it("names the user only if the user cancelled", async () => {
    const { at, finished } = await running();
    await at.scheduler.cancel();
    expect(said(await finished)).toEqual(["cancelled", "The user cancelled this call while it ran."]);
  });

  it("before anything started still returns a result for every call", async () => {
    const at = createHarness();
    const stop = AbortSignal.abort();
    const finished = await at.scheduler.schedule([one, call(2, "nothing"), call(3, "write", { name: "b" })], stop);
    expect(finished.map(said)).toEqual(
      Array.from({ length: 3 }, () => ["cancelled", "This call was cancelled before it ran."]),
    );
    expect(at.states(one)).toEqual(["validating", "cancelled"]);
  });

  it("by a listener when the first call runs lets no other start", async () => {
    const at = createHarness();
    at.scheduler.listen((event) => {
      if (event.type === "call-changed" && event.status.state === "executing") void at.scheduler.cancel();
    });
    const finished = await at.scheduler.schedule([1, 2, 3].map((ordinal) => call(ordinal, "read", { name: "a" })));
    expect(finished.map((end) => said(end)[1])).toEqual([
      "The user cancelled this call while it ran.",
      "The user cancelled this call before it ran.",
      "The user cancelled this call before it ran.",
    ]);
    expect(at.runs.length).toBe(1);
  });

  it("aborts the tool, and waits a moment for its result", async () => {
    const { at, stop, finished } = await running(stubborn);
    stop.abort();
    await at.advance(399);
    expect(at.run("a").can.signal.aborted).toBe(true);
    at.run("a").finish({ content: [{ type: "text", text: "stopped in the middle" }] });
    expect(said(await finished)).toEqual([
      "cancelled",
      "This call was cancelled while it ran.",
      "stopped in the middle",
    ]);
  });

  it("does not wait longer for a tool that ignores its signal, and drops its later output", async () => {
    const { at, stop, finished } = await running(stubborn);
    at.run("a").can.report("early");
    stop.abort();
    await at.settle();
    await at.advance(400);
    const end = await finished;
    expect([end.duration, said(end)[1]]).toEqual([
      400,
      "This call was cancelled while it ran. Output until then:\nearly",
    ]);
    const before = at.events.length;
    at.run("a").can.report("late");
    at.run("a").finish();
    await at.advance(5000);
    expect(at.events.length).toBe(before);
  });

  it("keeps the result of a completed write", async () => {
    const { at, stop, finished } = await running(call(1, "write", { name: "a", path: "a.txt", stubborn: true }));
    stop.abort();
    await at.settle();
    at.run("a").finish();
    expect(said(await finished)).toEqual(["complete", "a is done"]);
  });

  it("twice, or after the end, changes nothing", async () => {
    const { at, stop, finished } = await running();
    at.run("a").finish();
    const end = await finished;
    stop.abort();
    await at.scheduler.cancel();
    await at.scheduler.cancel();
    await at.settle();
    expect([end.outcome.status, at.states(one)]).toEqual([
      "complete",
      ["validating", "scheduled", "executing", "success"],
    ]);
  });

  it("settles once nothing runs", async () => {
    const { at, finished } = await running(stubborn);
    let idle = false;
    const cancelled = at.scheduler.cancel().then(() => (idle = true));
    await at.advance(399);
    expect(idle).toBe(false);
    await at.advance(1);
    await cancelled;
    expect((await finished).duration).toBe(400);
  });
});

describe("a tool that fails", () => {
  const failures: readonly (readonly [what: string, error: unknown, type: string, message: string])[] = [
    ["with a reason", new ToolFailure("file_not_found", "No such file."), "file_not_found", "No such file."],
    ["by policy", new PolicyError("policy_violation", "Not allowed."), "policy_violation", "Not allowed."],
    [
      "by a crash",
      new TypeError("x is undefined"),
      "unhandled_exception",
      "The tool failed unexpectedly: x is undefined",
    ],
    ["with something thrown", "text", "unhandled_exception", "The tool failed unexpectedly: text"],
    ["with nothing thrown", undefined, "unhandled_exception", "The tool failed unexpectedly: undefined"],
  ];
  it.each(failures)("%s ends as an error of that type", async (_, error, type, message) => {
    const { at, finished } = await running();
    at.run("a").crash(error);
    const end = await finished;
    expect([said(end), end.error, end.display, end.record.error, end.record.error_type]).toEqual([
      ["error", message],
      { type, message },
      { type: "text", text: message },
      message,
      type,
    ]);
  });

  it.each(["touches", "title", "run", "input"])("before it began, in %s, ends as one too", async (part) => {
    const at = createHarness({ mode: "yolo" });
    const { tool } = at.registry.get("read") ?? {};
    const crash = (): never => {
      throw new Error("bug");
    };
    at.registry.set("read", {
      tool: { ...tool, [part]: part === "input" ? { safeParseAsync: crash } : crash } as never,
    });
    const [end] = await at.scheduler.schedule([one]);
    expect(end?.error).toEqual({ type: "unhandled_exception", message: "The tool failed unexpectedly: bug" });
  });

  it("keeps its output", async () => {
    const { at, finished } = await running();
    at.run("a").can.report("line one\n");
    at.run("a").crash(new ToolFailure("execution_failed", "It broke."));
    expect(said(await finished)).toEqual(["error", "It broke. Output until then:\nline one\n"]);
  });

  it("in its result keeps its own content for the model", async () => {
    const { at, finished } = await running();
    const error = { type: "file_not_found", message: "short" } as const;
    at.run("a").finish({ content: [{ type: "text", text: "long and helpful" }], error });
    const end = await finished;
    expect([said(end), end.error]).toEqual([["error", "long and helpful"], error]);
  });

  it("without content gets its message as content", async () => {
    const { at, finished } = await running();
    at.run("a").finish({ content: [], error: { type: "file_not_found", message: "short" } });
    expect(said(await finished)).toEqual(["error", "short"]);
  });
});

describe("a tool that takes too long", () => {
  it("is stopped, and ends as an error that says so", async () => {
    const { at, finished } = await running(one, { mode: "yolo", toolTime: 5000 });
    at.run("a").can.report("so far");
    await at.advance(5000);
    const end = await finished;
    expect([end.duration, said(end), end.error?.type]).toEqual([
      5000,
      ["error", "Stopped after 5 seconds. Output until then:\nso far"],
      "timeout",
    ]);
    expect(at.run("a").can.signal.aborted).toBe(true);
  });

  it("is not stopped where it has limits of its own", async () => {
    const at = createHarness({ mode: "yolo", toolTime: 5000 });
    const { tool } = at.registry.get(one.tool) ?? {};
    at.registry.set(one.tool, { tool: { ...tool, hasNoTimeout: true } as never });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    await at.advance(3_600_000);
    expect(at.run("a").can.signal.aborted).toBe(false);
    at.run("a").finish({ content: [{ type: "text", text: "at last" }] });
    const [end] = await batch;
    expect([end?.duration, end && said(end)]).toEqual([3_600_000, ["complete", "at last"]]);
  });

  it("may also time out while it prepares its approval", async () => {
    const at = createHarness({ toolTime: 5000 });
    const { tool } = at.registry.get("write_file") ?? {};
    at.registry.set("write_file", { tool: { ...tool, propose: () => new Promise(() => undefined) } as never });
    const batch = at.scheduler.schedule([call(1, "write_file", { file_path: "a", content: "" })]);
    const [end] = await at.world.run(batch);
    expect([end?.error?.type, end?.duration]).toEqual(["timeout", 5000]);
  });
});

describe("live output", () => {
  it("is reported at once, and then at most once a second", async () => {
    const { at, finished } = await running();
    const { can: capabilities, finish } = at.run("a");
    for (let tick = 0; tick < 50; tick++) {
      capabilities.report(`${tick} `);
      await at.advance(50);
    }
    expect(outputs(at).map((text) => text.trim().split(" ").length)).toEqual([1, 20, 40]);
    finish();
    await finished;
    await at.advance(5000);
    expect(outputs(at).length).toBe(3);
  });

  it("reports the latest text, also after a silence", async () => {
    const { at, finished } = await running();
    const { can: capabilities, finish } = at.run("a");
    capabilities.report("a");
    capabilities.report("b");
    await at.advance(10_000);
    capabilities.report("c");
    expect(outputs(at)).toEqual(["a", "ab", "abc"]);
    finish();
    await finished;
  });

  it("is only the tail of long output, and sanitized", async () => {
    const { at, finished } = await running();
    const { can: capabilities, finish } = at.run("a");
    capabilities.report(`${"x".repeat(100_000)}\u001b[2J\u0007end`);
    const [text = ""] = outputs(at);
    expect([text.length < 33_000, text.endsWith("x␇end")]).toEqual([true, true]);
    finish();
    await finished;
  });
});

describe("the result of a call", () => {
  const result = async (
    given: Partial<ToolResult>,
  ): Promise<{ readonly at: SchedulerHarness; readonly end: FinishedCall }> => {
    const { at, finished } = await running();
    at.run("a").finish(given);
    return { at, end: await finished };
  };

  it("keeps text, values and files in order, and the bytes beside them", async () => {
    const bytes = new Uint8Array([137, 80, 78, 71]);
    const hash = createHash("sha256").update(bytes).digest("hex");
    const { end } = await result({
      content: [
        { type: "text", text: "before \ud800" },
        { type: "file", mimeType: "image/png", bytes, name: "a.png", width: 2, height: 3 },
        { type: "structured", value: { a: [1] } },
      ],
    });
    expect(end.outcome).toEqual({
      status: "complete",
      content: [
        { type: "text", text: "before \ufffd" },
        {
          type: "media",
          kind: "image",
          mimeType: "image/png",
          id: `file-${hash.slice(0, 8)}`,
          name: "a.png",
          width: 2,
          height: 3,
          source: { type: "blob", hash, bytes: 4 },
        },
        { type: "structured", value: { a: [1] } },
      ],
    });
    expect(end.blobs).toEqual({ [hash]: "iVBORw==" });
  });

  it("is truncated for the model: the rest is in a file it can read", async () => {
    const text = "line\n".repeat(100_000);
    const { at, end } = await result({
      content: [
        { type: "text", text },
        { type: "structured", value: { text } },
      ],
    });
    for (const part of end.outcome.content) {
      if (part.type !== "text") throw new Error("It is still a value.");
      expect(part.text.length).toBeLessThan(170_000);
      expect(part.text).toContain("/site/kept/read-hist_tool_1");
    }
    expect(at.files.get("/site/kept/read-hist_tool_1")).toContain("line");
  });

  it("is returned even if the rest cannot be stored", async () => {
    const keep = () => Promise.reject(new PolicyError("no_space_left", "The disk is full."));
    const text = "x".repeat(200_000);
    const result = {
      state: "success",
      content: [{ type: "text", text }],
      display: { type: "text", text: "" },
    } as const;
    const end = await finishCall({
      call: one,
      result,
      duration: 0,
      decision: undefined,
      server: undefined,
      files: { keep },
      redact: (each) => each,
    });
    const [status, kept = ""] = said(end) as readonly string[];
    expect([status, kept.length < 170_000, kept.includes("could not be stored")]).toEqual(["complete", true, true]);
  });

  it("that cannot be read ends as an error", async () => {
    const value = {
      get bad(): never {
        throw new Error("booby trap");
      },
    };
    const { end } = await result({ content: [{ type: "structured", value: value as never }] });
    expect([end.outcome.status, end.error?.type]).toEqual(["error", "unhandled_exception"]);
  });

  it("is sanitized for the terminal", async () => {
    const evil = "\u001b]52;c;AAAA\u0007a\rb\u202e";
    const { end } = await result({ display: { type: "listing", title: evil, lines: [evil] } });
    // oxlint-disable-next-line no-control-regex
    expect(JSON.stringify(end.display)).not.toMatch(/\\u001b|\\u0007|\\r|\u202e/);
  });

  it("is recorded for telemetry", async () => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    await at.advance(250);
    at.run("a").finish({
      display: {
        type: "diff",
        path: "a",
        before: "",
        after: "x",
        patch: "",
        stat: { aiAdded: 3, aiRemoved: 1, userAdded: 2, userRemoved: 0 },
      },
    });
    const [end] = await batch;
    expect([end?.duration, end?.record]).toEqual([
      250,
      {
        function_name: "read",
        function_args: { name: "a" },
        duration_ms: 250,
        success: true,
        decision: "auto_accept",
        tool_type: "native",
        metadata: { ai_added_lines: 3, ai_removed_lines: 1, user_added_lines: 2, user_removed_lines: 0 },
      },
    ]);
  });
});

describe("a listener", () => {
  it("is not called once it stops listening", async () => {
    const at = createHarness();
    const heard: string[] = [];
    const stop = at.scheduler.listen(({ type }) => heard.push(type));
    stop();
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    at.run("a").finish();
    await batch;
    expect([heard, at.events.length]).toEqual([[], 4]);
  });
});
