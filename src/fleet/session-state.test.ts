import { expect, it } from "vitest";
import { callId } from "../conversation/call-ids.ts";
import type { SessionRecord } from "../session/log/record.ts";
import { emptyState, foldRecord } from "./session-state.ts";

it("open questions are in the order of their calls, whichever was asked first", () => {
  const approval = { title: "Write a file", details: { type: "other" } };
  const asked = (ordinal: number): SessionRecord => ({ kind: "asked", call: callId(ordinal), approval });
  const records = [2, 10, 1].map((ordinal, index) => ({ sequence: index + 1, at: 0, record: asked(ordinal) }));
  const { questions } = records.reduce(foldRecord, emptyState);
  expect([...questions.keys()]).toEqual([1, 2, 10].map(callId));
});
