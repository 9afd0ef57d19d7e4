import { describe, expect, it } from "vitest";
import type { AgentEvent } from "../events.ts";
import { Journal } from "../session/journal.ts";
import { DurableEventQueue } from "./durable-event-queue.ts";

const notice = (text: string): AgentEvent => ({ type: "notice", text });

/** Something to tell to, over a disk that answers when the test says so. */
const stage = () => {
  const writings: ((error?: Error) => void)[] = [];
  const heard: string[] = [];
  const journal = new Journal({
    append: (_, written) =>
      new Promise((resolve, reject) => {
        writings.push((error) => (error === undefined ? resolve() : reject(error)));
        written();
      }),
    storeBlobs: async () => undefined,
  });
  const telling = new DurableEventQueue({
    journal,
    emit: (event) => heard.push(event.type === "notice" ? event.text : ""),
  });
  /** Records something, to be told as these words. */
  const happen = (text: string): void => {
    journal.ledger.user([{ type: "text", text }]);
    telling.emitAfterCommit(notice(text));
  };
  return { telling, heard, writings, happen };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("what happens is told", () => {
  it("at once where nothing is to be recorded", () => {
    const { telling, heard } = stage();
    telling.emit(notice("output"));
    expect(heard).toEqual(["output"]);
  });

  it("once it is kept, and what follows from it after it", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("call");
    telling.emit(notice("runs"));
    const kept = telling.commitInBackground();
    telling.emit(notice("output"));
    await turn();
    expect(heard).toEqual([]);
    writings[0]?.();
    await kept;
    expect(heard).toEqual(["call", "runs", "output"]);
  });

  it("not before its own writing, though an earlier one is done", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("one");
    void telling.commitInBackground();
    happen("two");
    telling.emit(notice("after two"));
    const all = telling.flush();
    writings[0]?.();
    await turn();
    expect(heard).toEqual(["one"]);
    writings[1]?.();
    await all;
    expect(heard).toEqual(["one", "two", "after two"]);
  });

  it("in order also when a writing failed and the next one took it along; whoever waits for all hears of it", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("one");
    void telling.commitInBackground();
    happen("two");
    const all = telling.flush();
    writings[0]?.(new Error("full"));
    await expect(all).rejects.toThrow("full");
    await turn();
    expect(heard).toEqual([]);
    writings[1]?.();
    await turn();
    expect(heard).toEqual(["one", "two"]);
  });

  it("a last time at the end, after what is under way", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("one");
    void telling.commitInBackground();
    const last = telling.flushFinal();
    writings[0]?.(new Error("full"));
    await turn();
    writings[1]?.();
    await last;
    expect(heard).toEqual(["one"]);
  });
});
