import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../events.ts";
import { Journal } from "../session/journal.ts";
import { DurableEventQueue } from "./durable-event-queue.ts";

const notice = (text: string): AgentEvent => ({ type: "notice", text });

/** A queue over a disk that answers when the test says so. */
const openQueue = () => {
  const writes: ((error?: Error) => void)[] = [];
  const emitted: string[] = [];
  const journal = new Journal({
    append: (_, submitted) =>
      new Promise((resolve, reject) => {
        writes.push((error) => (error === undefined ? resolve() : reject(error)));
        submitted();
      }),
    storeBlobs: async () => undefined,
  });
  const queue = new DurableEventQueue({
    journal,
    emit: (event) => emitted.push(event.type === "notice" ? event.text : ""),
  });
  /** Records an entry, and queues an event with its text. */
  const record = (text: string): void => {
    journal.ledger.user([{ type: "text", text }]);
    queue.emitAfterCommit(notice(text));
  };
  return { queue, emitted, writes, record };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("an event of a turn", () => {
  it("is emitted at once if nothing waits to be committed", () => {
    const { queue, emitted } = openQueue();
    queue.emit(notice("output"));
    expect(emitted).toEqual(["output"]);
  });

  it("about an entry is emitted once the entry is committed, and later events after it", async () => {
    const { queue, emitted, writes, record } = openQueue();
    record("call");
    queue.emit(notice("runs"));
    const committed = queue.commitInBackground();
    queue.emit(notice("output"));
    await turn();
    expect(emitted).toEqual([]);
    writes[0]?.();
    await committed;
    expect(emitted).toEqual(["call", "runs", "output"]);
  });

  it("waits for its own commit, though an earlier one is done", async () => {
    const { queue, emitted, writes, record } = openQueue();
    record("one");
    void queue.commitInBackground();
    record("two");
    queue.emit(notice("after two"));
    const all = queue.flush();
    writes[0]?.();
    await turn();
    expect(emitted).toEqual(["one"]);
    writes[1]?.();
    await all;
    expect(emitted).toEqual(["one", "two", "after two"]);
  });

  it("is emitted in order after a commit failed and the next one succeeded; flush rejects", async () => {
    const { queue, emitted, writes, record } = openQueue();
    record("one");
    void queue.commitInBackground();
    record("two");
    const all = queue.flush();
    writes[0]?.(new Error("full"));
    await expect(all).rejects.toThrow("full");
    await turn();
    expect(emitted).toEqual([]);
    writes[1]?.();
    await turn();
    expect(emitted).toEqual(["one", "two"]);
  });

  it("is committed once more at the end of the turn, after the running commits", async () => {
    const { queue, emitted, writes, record } = openQueue();
    record("one");
    void queue.commitInBackground();
    const last = queue.flushFinal();
    writes[0]?.(new Error("full"));
    await turn();
    writes[1]?.();
    await last;
    expect(emitted).toEqual(["one"]);
  });
});
