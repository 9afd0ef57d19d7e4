import { describe, expect, it } from "vitest";
import type { ApprovalRequest, ApprovalDecision, FinishedCall } from "../events.ts";
import { call, createHarness, waitingTool, type SchedulerHarness } from "../harness.cases.ts";

const finishedOf = ([finished]: readonly FinishedCall[]): FinishedCall => {
  if (finished === undefined) throw new Error("Nothing finished.");
  return finished;
};
const said = ({ outcome }: FinishedCall): readonly unknown[] => [
  outcome.status,
  ...outcome.content.map((part) => (part.type === "text" ? part.text : part)),
];
const questionOf = ({ scheduler }: SchedulerHarness): ApprovalRequest => {
  const [first] = scheduler.pendingApprovals();
  if (first === undefined) throw new Error("Nothing waits.");
  return first.approval;
};

describe("a call", () => {
  it("that needs no approval goes from validating to success", async () => {
    const at = createHarness();
    const one = call(1, "read", { name: "a", path: "a.txt" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    at.run("a").finish();
    expect(said(finishedOf(await batch))).toEqual(["complete", "a is done"]);
    expect(at.states(one)).toEqual(["validating", "scheduled", "executing", "success"]);
  });

  it("that needs approval does not run before the answer", async () => {
    const at = createHarness();
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    await at.advance(10 * 60_000);
    expect([at.runs.length, at.states(one)]).toEqual([0, ["validating", "awaiting_approval"]]);
    expect(at.scheduler.decide(one.id, { type: "once" })).toBe(true);
    await at.settle();
    at.run("a").finish();
    expect(finishedOf(await batch).record.decision).toBe("accept");
    expect(at.states(one)).toEqual(["validating", "awaiting_approval", "scheduled", "executing", "success"]);
  });

  it("that policy denies ends with the reason, for the model too", async () => {
    const at = createHarness({ mode: "plan" });
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const finished = finishedOf(await at.scheduler.schedule([one]));
    expect(said(finished)[1]).toContain("Plan mode is read-only: write was not run.");
    expect([finished.error?.type, finished.record.decision, at.runs.length]).toEqual(["policy_violation", "reject", 0]);
    expect(at.states(one)).toEqual(["validating", "error"]);
  });

  it("can be answered at once, by a listener", async () => {
    const at = createHarness();
    const one = call(1, "write", { name: "a", path: "a.txt" });
    at.scheduler.listen((event) => {
      if (event.type === "call-changed" && event.status.state === "awaiting_approval")
        at.scheduler.decide(event.call, { type: "refuse", reason: "not now" });
    });
    expect(said(finishedOf(await at.scheduler.schedule([one])))).toEqual([
      "cancelled",
      "The user refused this call: not now",
    ]);
  });
});

describe("an answer", () => {
  const rows: readonly (readonly [ApprovalDecision, state: string, decision: string, text: string])[] = [
    [{ type: "once" }, "success", "accept", "a is done"],
    [{ type: "always", rule: "tool", scope: "session" }, "success", "accept", "a is done"],
    [{ type: "always", rule: "server", scope: "session" }, "success", "accept", "a is done"],
    [{ type: "refuse", reason: "use b" }, "cancelled", "reject", "The user refused this call: use b"],
    [
      { type: "refuse" },
      "cancelled",
      "reject",
      "The user refused this call. Do not repeat it; continue another way, or ask.",
    ],
  ];
  it.each(rows)("%o ends the call as %s", async (decision, state, recorded, text) => {
    const at = createHarness();
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    at.scheduler.decide(one.id, decision);
    await at.settle();
    if (state === "success") at.run("a").finish();
    const finished = finishedOf(await batch);
    expect([at.states(one).at(-1), finished.record.decision, said(finished)[1]]).toEqual([state, recorded, text]);
  });

  const unknown: readonly unknown[] = [
    "once",
    "allow",
    "deny",
    "no",
    "",
    true,
    1,
    null,
    undefined,
    [],
    ["once"],
    {},
    { type: "deny" },
    { type: "Once" },
    { type: ["once"] },
    { decision: "once" },
    { type: "allow" },
    { type: "judged", verdict: { decision: "allow" } },
    { type: "always" },
    { type: "always", scope: "everything" },
    { type: "always", scope: "constructor" },
    { type: "edit" },
    { type: "edit", text: { toString: 1 } },
  ];
  it.each(unknown.map((answer) => [answer]))("that is not a known decision refuses the call: %j", async (answer) => {
    const at = createHarness();
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    expect(at.scheduler.decide(one.id, answer as ApprovalDecision)).toBe(true);
    const finished = finishedOf(await batch);
    expect([at.runs.length, finished.record.decision, ...said(finished)]).toEqual([
      0,
      "reject",
      "cancelled",
      "The user refused this call: the answer to its question was not a known decision, so it did not run.",
    ]);
  });

  it("of cancel ends the whole batch, and no other", async () => {
    const at = createHarness();
    const [one, two, other] = [
      call(1, "write", { name: "a", path: "a.txt" }),
      call(2, "read", { name: "b", path: "b.txt" }),
      call(3, "write", { name: "c", path: "c.txt" }),
    ] as const;
    const batch = at.scheduler.schedule([one, two]);
    const later = at.scheduler.schedule([other]);
    await at.settle();
    at.scheduler.decide(one.id, { type: "cancel" });
    expect((await batch).map(said)).toEqual([
      ["cancelled", "The user cancelled this call before it ran."],
      ["cancelled", "The user cancelled this call while it ran."],
    ]);
    expect(at.scheduler.pendingApprovals().map(({ call: id }) => id)).toEqual([other.id]);
    at.scheduler.decide(other.id, { type: "refuse" });
    await later;
  });

  it("may come in any order, and is applied to its own call", async () => {
    const at = createHarness();
    const calls = [1, 2, 3].map((ordinal) => call(ordinal, "write", { name: `w${ordinal}`, path: `${ordinal}.txt` }));
    const batch = at.scheduler.schedule(calls);
    await at.settle();
    expect(at.scheduler.pendingApprovals().length).toBe(3);
    at.scheduler.decide("hist_tool_3", { type: "once" });
    at.scheduler.decide("hist_tool_1", { type: "refuse", reason: "no" });
    await at.settle();
    at.scheduler.decide("hist_tool_2", { type: "once" });
    await at.settle();
    expect(at.runs.map(({ name }) => name)).toEqual(["w3", "w2"]);
    at.runs.forEach(({ finish }) => finish());
    expect((await batch).map(said)).toEqual([
      ["cancelled", "The user refused this call: no"],
      ["complete", "w2 is done"],
      ["complete", "w3 is done"],
    ]);
  });

  it("to a call that does not wait changes nothing, and returns false", async () => {
    const at = createHarness();
    const one = call(1, "read", { name: "a" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    expect(at.scheduler.decide(one.id, { type: "refuse" })).toBe(false);
    expect(at.scheduler.decide("hist_tool_9", { type: "cancel" })).toBe(false);
    at.run("a").finish();
    expect((await batch)[0]?.outcome.status).toBe("complete");
    expect(at.scheduler.decide(one.id, { type: "once" })).toBe(false);
  });
});

describe("the time a call took", () => {
  it("does not include the time the user took to answer", async () => {
    const at = createHarness();
    const one = call(1, "write", { name: "a", path: "a.txt" });
    const batch = at.scheduler.schedule([one]);
    await at.settle();
    await at.world.run(at.world.clock.sleep(60_000));
    at.scheduler.decide(one.id, { type: "once" });
    await at.settle();
    await at.world.run(at.world.clock.sleep(250));
    at.run("a").finish();
    const { duration, record } = finishedOf(await batch);
    expect([duration, record.duration_ms]).toEqual([250, 250]);
  });
});

describe("an answer for always", () => {
  it("answers the same question later, and those already pending", async () => {
    const at = createHarness();
    const calls = [1, 2].map((ordinal) => call(ordinal, "write", { name: `w${ordinal}`, path: `${ordinal}.txt` }));
    const batch = at.scheduler.schedule(calls);
    await at.settle();
    at.scheduler.decide("hist_tool_1", { type: "always", rule: "edits", scope: "session" });
    await at.settle();
    at.runs.forEach(({ finish }) => finish());
    expect((await batch).map(({ record }) => record.decision)).toEqual(["accept", "auto_accept"]);
    const next = at.scheduler.schedule([call(3, "write", { name: "w3", path: "3.txt" })]);
    await at.settle();
    at.run("w3").finish();
    expect(finishedOf(await next).record.decision).toBe("auto_accept");
  });

  it("for a command applies to that command only", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([call(1, "execute", { name: "make test" })]);
    await at.settle();
    at.scheduler.decide("hist_tool_1", { type: "always", rule: "command", scope: "session" });
    await at.settle();
    at.run("make test").finish();
    await batch;
    const next = at.scheduler.schedule([
      call(2, "execute", { name: "make install" }),
      call(3, "execute", { name: "npm" }),
    ]);
    await at.settle();
    expect(at.states(call(2, ""))).toEqual(["validating", "scheduled", "executing"]);
    expect(at.states(call(3, ""))).toEqual(["validating", "awaiting_approval"]);
    await at.scheduler.cancel();
    await next;
  });

  it("for a server applies to all its tools", async () => {
    const at = createHarness();
    for (const name of ["list", "make"])
      at.registry.set(name, { tool: waitingTool("read", at.runs as never, name), server: "github" });
    const batch = at.scheduler.schedule([call(1, "list", { name: "a" }), call(2, "make", { name: "b" })]);
    await at.settle();
    at.scheduler.decide("hist_tool_1", { type: "always", rule: "server", scope: "session" });
    await at.settle();
    at.runs.forEach(({ finish }) => finish());
    expect((await batch).map(({ record }) => [record.decision, record.tool_type])).toEqual([
      ["accept", "mcp"],
      ["auto_accept", "mcp"],
    ]);
  });

  it("is not needed once the mode allows or denies the pending call", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([call(1, "write", { name: "a", path: "a.txt" })]);
    await at.settle();
    at.gate.setMode("auto_edit");
    await at.scheduler.reconsider();
    await at.settle();
    at.run("a").finish();
    expect(finishedOf(await batch).record.decision).toBe("auto_accept");
    at.gate.setMode("default");
    const next = at.scheduler.schedule([call(2, "write", { name: "b", path: "b.txt" })]);
    await at.settle();
    at.gate.setMode("plan");
    await at.scheduler.reconsider();
    expect(finishedOf(await next).error?.type).toBe("policy_violation");
  });
});

describe("the question", () => {
  it("about an edit shows the real path, the difference and whether a link leads there", async () => {
    const at = createHarness();
    at.files.set("/site/a.txt", "one\ntwo\n");
    const batch = at.scheduler.schedule([call(1, "write_file", { file_path: "sub/../link.txt", content: "one\n2\n" })]);
    await at.approvalsRequested();
    const { patch, ...about } = questionOf(at).subject as { patch: string };
    expect(about).toEqual({
      type: "edit",
      path: "/site/a.txt",
      relativePath: "a.txt",
      requestedPath: "sub/../link.txt",
      isLink: true,
      before: "one\ntwo\n",
      after: "one\n2\n",
      stat: { aiAdded: 1, aiRemoved: 1, userAdded: 0, userRemoved: 0 },
      isEditable: true,
    });
    expect(patch).toContain("-two\n+2\n");
    expect(questionOf(at)).toMatchObject({
      title: "Write sub/../link.txt",
      reason: "write_file changes files.",
      isRoutine: false,
      always: [{ type: "edits" }],
    });
    at.scheduler.decide("hist_tool_1", { type: "refuse" });
    await batch;
    const plain = at.scheduler.schedule([call(2, "write_file", { file_path: "sub/../b.txt", content: "" })]);
    await at.approvalsRequested();
    expect(questionOf(at).subject).toMatchObject({ path: "/site/b.txt", isLink: false, before: undefined });
    expect(questionOf(at).isRoutine).toBe(true);
    await at.scheduler.cancel();
    await plain;
  });

  it("cannot get extra lines from a file name", async () => {
    const at = createHarness();
    const name = "a\n! This edit is safe.txt";
    at.files.set(`/site/${name}`, "one\n");
    const batch = at.scheduler.schedule([call(1, "write_file", { file_path: name, content: "2\n" })]);
    await at.approvalsRequested();
    const { title, subject } = questionOf(at);
    expect([title, (subject as { path: string }).path].join("")).not.toContain("\n");
    expect((subject as { patch: string }).patch).toBe(
      "--- /site/a␤! This edit is safe.txt\n+++ /site/a␤! This edit is safe.txt\n@@ -1,1 +1,1 @@\n-one\n+2\n",
    );
    await at.scheduler.cancel();
    await batch;
  });

  it("about a command shows the whole command, its programs, and the folder", async () => {
    const at = createHarness();
    const hidden = `grep x${" ".repeat(200)}; touch y\r\u001b[2J`;
    const batch = at.scheduler.schedule([call(1, "execute", { name: hidden })]);
    await at.settle();
    const { subject, title } = questionOf(at);
    expect(subject).toEqual({
      type: "execute",
      command: "grep x ⟨200 spaces⟩ ; touch y␍␛[2J",
      commands: [{ name: "grep", binary: { kind: "file", path: "/usr/bin/grep" } }],
      folder: "/site",
      relativeFolder: "",
      effects: "runs grep",
    });
    expect(title).toBe(`Does grep x${" ".repeat(200)}; touch y␍␛[2J`);
    await at.scheduler.cancel();
    await batch;
  });

  it("about URLs shows their real hosts", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([call(1, "network", { name: "аllowed" })]);
    await at.settle();
    expect(questionOf(at).subject).toMatchObject({ type: "network", urls: [{ host: "xn--llowed-2nf.test" }] });
    await at.scheduler.cancel();
    await batch;
  });

  it("sanitizes the scopes of an answer for always", async () => {
    const at = createHarness();
    const name = "list\u001b[2J";
    at.registry.set(name, { tool: waitingTool("read", at.runs as never, name), server: "git\nhub" });
    const batch = at.scheduler.schedule([call(1, name, { name: "a" })]);
    await at.settle();
    expect(at.scheduler.pendingApprovals().map(({ approval }) => approval.always)).toEqual([
      [
        { type: "tool", tool: "list␛[2J", scopes: ["session"] },
        { type: "server", server: "git␊hub", scopes: ["session"] },
      ],
    ]);
    await at.scheduler.cancel();
    await batch;
  });

  it("about a server's tool shows the server and the sanitized arguments", async () => {
    const at = createHarness();
    at.registry.set("list", { tool: waitingTool("read", at.runs as never, "list"), server: "github" });
    const batch = at.scheduler.schedule([call(1, "list", { name: "a\u001b]52;c;x\u0007" })]);
    await at.settle();
    expect(questionOf(at).subject).toEqual({
      type: "mcp",
      server: "github",
      tool: "list",
      description: "Waits for the test.",
      arguments: { name: "a␛]52;c;x␇" },
    });
    await at.scheduler.cancel();
    await batch;
  });

  it("about a server's tool shows the server's own name for it, and the one for rules", async () => {
    const at = createHarness();
    const tool = { ...waitingTool("read", at.runs as never, "github__list"), originalName: "list" };
    at.registry.set("github__list", { tool, server: "github" });
    const batch = at.scheduler.schedule([call(1, "github__list", { name: "a" })]);
    await at.settle();
    expect(questionOf(at).subject).toMatchObject({ type: "mcp", tool: "list", exposedAs: "github__list" });
    await at.scheduler.cancel();
    await batch;
  });

  it("about anything else shows its title", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([call(1, "write", { name: "a" })]);
    await at.settle();
    expect(questionOf(at).subject).toEqual({ type: "info", text: "Does a" });
    await at.scheduler.cancel();
    await batch;
  });
});

describe("an edit changed by the user", () => {
  const asked = async () => {
    const at = createHarness();
    at.files.set("/site/a.txt", "one\ntwo\n");
    const batch = at.scheduler.schedule([call(1, "write_file", { file_path: "a.txt", content: "one\n2\n" })]);
    await at.approvalsRequested();
    return { at, batch };
  };

  it("is shown again as changed, and counts the lines of model and user separately", async () => {
    const { at, batch } = await asked();
    at.scheduler.decide("hist_tool_1", { type: "edit", text: "one\n2\nthree\n" });
    await at.approvalsRequested();
    expect([questionOf(at).subject, at.files.get("/site/a.txt")]).toMatchObject([
      { after: "one\n2\nthree\n", stat: { aiAdded: 1, aiRemoved: 1, userAdded: 1, userRemoved: 0 } },
      "one\ntwo\n",
    ]);
    at.scheduler.decide("hist_tool_1", { type: "once" });
    const finished = finishedOf(await batch);
    expect(at.files.get("/site/a.txt")).toBe("one\n2\nthree\n");
    expect(finished.record).toMatchObject({
      decision: "modify",
      success: true,
      metadata: { ai_added_lines: 1, ai_removed_lines: 1, user_added_lines: 1, user_removed_lines: 0 },
    });
    expect(said(finished)[1]).toContain("The user changed the edit before approving it");
    expect(at.states(finished.call)).toEqual([
      "validating",
      "awaiting_approval",
      "awaiting_approval",
      "scheduled",
      "executing",
      "success",
    ]);
  });

  it("may be changed twice, and then refused", async () => {
    const { at, batch } = await asked();
    for (const text of ["one\n", "two\n"]) {
      at.scheduler.decide("hist_tool_1", { type: "edit", text });
      await at.approvalsRequested();
    }
    expect(questionOf(at).subject).toMatchObject({
      after: "two\n",
      stat: { aiAdded: 1, aiRemoved: 1, userAdded: 1, userRemoved: 2 },
    });
    at.scheduler.decide("hist_tool_1", { type: "refuse" });
    expect([(await batch)[0]?.outcome.status, at.files.get("/site/a.txt")]).toEqual(["cancelled", "one\ntwo\n"]);
  });

  it("is rejected where the tool has nothing to edit, and the approval stays pending", async () => {
    const at = createHarness();
    const batch = at.scheduler.schedule([call(1, "execute", { name: "make" })]);
    await at.settle();
    at.scheduler.decide("hist_tool_1", { type: "edit", text: "make all" });
    await at.settle();
    expect([questionOf(at).problem, at.runs.length]).toEqual(["What execute does cannot be edited.", 0]);
    at.scheduler.decide("hist_tool_1", { type: "once" });
    await at.settle();
    expect(at.runs.map(({ name }) => name)).toEqual(["make"]);
    await at.scheduler.cancel();
    await batch;
  });

  it("is validated like any other, and cannot change the path", async () => {
    const { at, batch } = await asked();
    const tool = at.registry.get("write_file")?.tool as unknown as { amend: unknown };
    const amends = [() => ({ file_path: "b.txt", content: "x" }), () => ({ file_path: "a.txt", content: 5 })];
    const problems: (string | undefined)[] = [];
    const original = tool.amend;
    try {
      for (const amend of amends) {
        tool.amend = amend;
        at.scheduler.decide("hist_tool_1", { type: "edit", text: "x" });
        await at.approvalsRequested();
        problems.push(questionOf(at).problem);
      }
    } finally {
      tool.amend = original;
    }
    expect(problems[0]).toBe("It would write to another file.");
    expect(problems[1]).toContain("- content: expected string, got the number 5");
    await at.scheduler.cancel();
    await batch;
  });
});

describe("an approval", () => {
  it("is not valid for a file that has changed since", async () => {
    const at = createHarness();
    at.files.set("/site/a.txt", "one\n");
    const batch = at.scheduler.schedule([call(1, "write_file", { file_path: "a.txt", content: "two\n" })]);
    await at.approvalsRequested();
    at.files.set("/site/a.txt", "changed\n");
    at.scheduler.decide("hist_tool_1", { type: "once" });
    expect([(await batch)[0]?.error?.type, at.files.get("/site/a.txt")]).toEqual([
      "file_modified_conflict",
      "changed\n",
    ]);
  });

  it("covers no other file, command, URL or memory", async () => {
    const at = createHarness({ mode: "yolo" });
    const batch = at.scheduler.schedule([
      call(1, "execute", { name: "make" }),
      call(2, "write", { name: "a", path: "a.txt" }),
      call(3, "read", { name: "b" }),
    ]);
    await at.settle();
    const [a, b, make] = [at.run("a").can, at.run("b").can, at.run("make").can];
    const text = new Uint8Array([65]);
    const options = { most: 1, signal: a.signal };
    const command = { folder: "", signal: a.signal, report: () => undefined };
    await expect(a.files.write("b.txt", text, "absent")).rejects.toThrow("write was not approved for writing b.txt");
    await expect(b.files.write("a.txt", text, "absent")).rejects.toThrow("not approved");
    await expect(b.memory.write("x")).rejects.toThrow("not approved");
    await expect(a.web.fetch("https://a.test/", options)).rejects.toThrow("not approved");
    await expect(a.shell.run({ ...command, text: "make" })).rejects.toThrow("not approved");
    await expect(make.shell.run({ ...command, text: "make; rm x" })).rejects.toThrow(
      "not approved for running make; rm x",
    );
    await expect(make.shell.run({ ...command, text: "make", folder: "sub" })).rejects.toThrow("not approved");
    expect([[...at.files.keys()], at.commands]).toEqual([[], []]);
    await a.files.write("a.txt", text, "absent");
    await a.files.write("a.txt", new Uint8Array([66]), "text:A");
    expect(at.files.get("/site/a.txt")).toBe("B");
    await at.scheduler.cancel();
    await batch;
  });
});
