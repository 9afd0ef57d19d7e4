import { describe, expect, it } from "vitest";
import type { LiveEvent } from "../fleet/session-events.ts";
import { AnswerDraft } from "./answer-draft.ts";
import type { A2aStreamItem } from "./protocol.ts";
import { foldTask, toAnswer, type TaskState } from "./tasks.ts";

const [task] = foldTask(
  [],
  {
    id: "1",
    sequence: 1,
    at: 0,
    event: { type: "user", parts: [{ type: "text", text: "hello" }] },
  },
  "s",
) as readonly [TaskState];

/** The updates of these live events, then of a last step: id, text, append, lastChunk. */
const play = (events: readonly LiveEvent[], end: (draft: AnswerDraft) => Iterable<A2aStreamItem>): unknown => {
  const draft = new AnswerDraft({ taskId: "s-1", contextId: "s" });
  const items = [...events.flatMap((event) => [...draft.addLive(task, event)]), ...end(draft)];
  return items.map((item) => {
    if (!("artifactUpdate" in item)) return item;
    const { artifact, append, lastChunk } = item.artifactUpdate;
    return [artifact.artifactId, artifact.parts.map(({ text }) => text).join(""), append, lastChunk];
  });
};
const text = (words: string): LiveEvent => ({ type: "text", text: words });

describe("the draft of an answer", () => {
  it("is ended without its text again where all of it was sent", () => {
    expect(play([text("Hello "), text("there.")], (draft) => [draft.complete(toAnswer(task, "Hello there."))])).toEqual(
      [
        ["answer-1", "Hello ", false, false],
        ["answer-1", "there.", true, false],
        ["answer-1", "", true, true],
      ],
    );
  });

  it.each([
    ["a piece was lost", [text("there.")]],
    ["nothing was sent", []],
  ])("is replaced by the record where %s", (_, events) => {
    const updates = play(events, (draft) => [draft.complete(toAnswer(task, "Hello there."))]) as readonly unknown[];
    expect(updates.at(-1)).toEqual(["answer-1", "Hello there.", false, true]);
  });

  it("is emptied where its text is no answer, and begins anew", () => {
    const retry: LiveEvent = { type: "retrying", delay: 0, discarded: true };
    expect(play([text("Hel"), retry, text("Hello")], (draft) => draft.discard())).toEqual([
      ["answer-1", "Hel", false, false],
      ["answer-1", "", false, true],
      ["answer-1", "Hello", false, false],
      ["answer-1", "", false, true],
    ]);
  });

  it("leaves other artifacts as they are", () => {
    const diff = { artifactId: "call", parts: [{ text: "+1" }] };
    expect(play([text("Hel")], (draft) => [draft.complete(diff)])).toEqual([
      ["answer-1", "Hel", false, false],
      ["call", "+1", false, true],
    ]);
  });
});
