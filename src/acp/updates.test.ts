import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../agent/events.ts";
import type { Call, CallId } from "../conversation/parts.ts";
import type { FinishedCall } from "../scheduler/events.ts";
import { foldEvent, initialState, newOutput, type ClientFeatures, type SessionEvent } from "./updates.ts";
import { fc } from "../../test/support/fast-check.ts";

const plain: ClientFeatures = { terminalOutput: false, notices: false, compaction: false };
const rich: ClientFeatures = { terminalOutput: true, notices: true, compaction: true };

const fold = (events: readonly SessionEvent[], features = plain): readonly Record<string, unknown>[] => {
  let state = initialState;
  return events.flatMap((event, entries) => {
    const result = foldEvent(state, event, { folder: "/site", features, entries });
    state = result.state;
    return result.updates;
  });
};

const call = (
  number: number,
  tool = "read_file",
  value = { absolute_path: "a.txt" } as Record<string, string>,
): Call => ({
  type: "call",
  id: `hist_tool_${number}`,
  tool,
  input: { type: "parsed", value },
});

const requested = (made: Call): AgentEvent => ({ type: "call-requested", call: made, isClientInitiated: false });

const finished = (made: Call, text: string): FinishedCall => ({
  call: made,
  outcome: { status: "complete", content: [{ type: "text", text: `Output: ${text}\nExit Code: 0\nSignal: (none)` }] },
  blobs: {},
  display: { type: "text", text },
  duration: 1,
  record: { function_name: made.tool, function_args: {}, duration_ms: 1, success: true, tool_type: "native" },
});

describe("updates of a command", () => {
  const command = call(1, "run_shell_command", { command: "make" });
  const output = (text: string): AgentEvent => ({ type: "call-output", call: command.id, text });
  const events = [
    requested(command),
    output("one\n"),
    output("one\ntwo\n"),
    { type: "call-completed", finished: finished(command, "one\ntwo\nthree") },
  ] as const;

  it("append only new output to a terminal", () => {
    const terminal = (update: Record<string, unknown>): unknown =>
      (update["_meta"] as { terminal_output?: { data: string } } | undefined)?.terminal_output?.data;
    expect(fold(events, rich).map(terminal)).toEqual([undefined, "one\n", "two\n", "three"]);
  });

  it("replace the output as text without a terminal", () => {
    const text = (update: Record<string, unknown>): unknown =>
      (update["content"] as { content: { text: string } }[] | undefined)?.[0]?.content.text;
    expect(fold(events).map(text)).toEqual([
      undefined,
      "```\none\n```",
      "```\none\ntwo\n```",
      "```\none\ntwo\nthree\n```",
    ]);
  });

  it.each([
    ["", "a", "a"],
    ["a", "ab", "b"],
    ["x".repeat(300), `${"x".repeat(250)}y`, "y"],
    ["gone", "other", "\nother"],
  ])("find what is new in output of which only the end is known: %#", (old, text, expected) => {
    expect(newOutput(old, text)).toBe(expected);
  });
});

describe("notices", () => {
  it("are thoughts for clients that do not know them, each a message of its own", () => {
    const events: readonly AgentEvent[] = [
      { type: "notice", text: "One." },
      { type: "notice", text: "Two." },
    ];
    expect(fold(events, rich)).toEqual([
      { sessionUpdate: "notice", severity: "info", title: "One." },
      { sessionUpdate: "notice", severity: "info", title: "Two." },
    ]);
    expect(fold(events).map((update) => update["messageId"])).toEqual(["m0-note1", "m0-note2"]);
  });
});

/** Random events of up to three agents, in any order, also impossible ones. */
const anyEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  fc.string().map((text): AgentEvent => ({ type: "text", text })),
  fc.string().map((text): AgentEvent => ({ type: "notice", text })),
  fc
    .tuple(
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom("begin", "run", "output", "end"),
      fc.constantFrom("", "a", "b"),
    )
    .map(([number, what, agent]): AgentEvent => {
      const id: CallId = `hist_tool_${number}`;
      const made = call(number);
      const events: Record<string, AgentEvent> = {
        begin: requested(made),
        run: { type: "call-updated", call: id, status: { state: "executing", title: "" } },
        output: { type: "call-output", call: id, text: `${number}` },
        end: { type: "call-completed", finished: finished(made, "x") },
      };
      const event = events[what]!;
      return agent === "" ? event : { type: "agent", agent, event };
    }),
  fc.constant<AgentEvent>({ type: "cancelled" }),
);

describe("updates of any events", () => {
  it("give every call that begins exactly one final state, and nothing after it until it begins again", () => {
    const property = fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.boolean(), (events, isRich) => {
      const open = new Set<unknown>();
      for (const update of fold([...events, { type: "cancelled" }], isRich ? rich : plain)) {
        if (!("toolCallId" in update)) continue;
        const id = update["toolCallId"];
        if (update["sessionUpdate"] === "tool_call") open.add(id);
        else expect(open.has(id)).toBe(true);
        if (update["status"] === "completed" || update["status"] === "failed") open.delete(id);
      }
      expect([...open]).toEqual([]);
    });
    fc.assert(property, { numRuns: 500 });
  });

  it("are the same for the same events", () => {
    fc.assert(
      fc.property(fc.array(anyEvent), (events) => {
        expect(fold(events)).toEqual(fold(events));
      }),
    );
  });
});

it("a to-do list is a plan, without cancelled items", () => {
  const todos = (["completed", "in_progress", "pending", "cancelled"] as const).map((status) => ({
    description: `Is ${status}`,
    status,
  }));
  expect(fold([{ type: "todos", todos }])).toEqual([
    {
      sessionUpdate: "plan",
      entries: [
        { content: "Is completed", priority: "medium", status: "completed" },
        { content: "Is in_progress", priority: "medium", status: "in_progress" },
        { content: "Is pending", priority: "medium", status: "pending" },
      ],
    },
  ]);
});
