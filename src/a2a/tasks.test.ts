import { describe, expect, it } from "vitest";
import type { CallId } from "../conversation/parts.ts";
import type { FollowedEvent, RecordEvent } from "../fleet/session-events.ts";
import { foldTask, toTask, type TaskState } from "./tasks.ts";

const [one, two] = ["call-1", "call-2"] as readonly string[] as readonly [CallId, CallId];

/** The status of the task after these events. */
const statusAfter = (events: readonly RecordEvent[]): unknown => {
  const followed = events.map((event, at): FollowedEvent => ({ id: `${at}`, sequence: at + 1, at, event }));
  const tasks = followed.reduce<readonly TaskState[]>((before, event) => foldTask(before, event, "s"), []);
  const { state, message } = toTask("s", tasks[0]!).status;
  return [state, message?.parts.map(({ text, data }) => text ?? (data as { readonly call: string }).call)];
};

const asked = (call: CallId): RecordEvent => ({ type: "asked", call, approval: { title: `Run ${call}?` } });
const begin: readonly RecordEvent[] = [
  { type: "user", parts: [{ type: "text", text: "do both" }] },
  {
    type: "message",
    model: "m",
    text: "",
    thought: "",
    media: [],
    calls: [one, two].map((id) => ({ id, tool: "write_file", input: {} })),
  },
];

describe("a task with questions", () => {
  it.each([
    ["in the order of its calls", [one, two]],
    ["in another order", [two, one]],
  ])("shows all of them, asked %s", (_, order) => {
    expect(statusAfter([...begin, ...order.map(asked)])).toEqual([
      "TASK_STATE_INPUT_REQUIRED",
      [
        'Run call-1?\nRun call-2?\nAnswer each with a data part {"call", "decision": {"type": "once" | "refuse"}}, or no to all.',
        one,
        two,
      ],
    ]);
  });

  it("shows the one that is left after a decision", () => {
    const events = [...begin, asked(two), asked(one), { type: "decided", call: one, decision: {} } as const];
    expect(statusAfter(events)).toEqual([
      "TASK_STATE_INPUT_REQUIRED",
      ['Run call-2?\nAnswer yes or no, or with a data part {"call", "decision": {"type": "once" | "refuse"}}.', two],
    ]);
  });
});
