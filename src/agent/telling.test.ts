import { describe, expect, it } from "vitest";
import type { AgentEvent } from "./events.ts";
import { Journal } from "./journal.ts";
import { Telling } from "./telling.ts";

const notice = (text: string): AgentEvent => ({ type: "notice", text });

/** Something to tell to, over a disk that answers when the test says so. */
const stage = () => {
  const writings: ((error?: Error) => void)[] = [];
  const heard: string[] = [];
  const journal = new Journal({
    write: (_, written) =>
      new Promise((resolve, reject) => {
        writings.push((error) => (error === undefined ? resolve() : reject(error)));
        written();
      }),
    keep: async () => undefined,
  });
  const telling = new Telling({ journal, tell: (event) => heard.push(event.type === "notice" ? event.text : "") });
  /** Records something, to be told as these words. */
  const happen = (text: string): void => {
    journal.ledger.user([{ type: "text", text }]);
    telling.note(notice(text));
  };
  return { telling, heard, writings, happen };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("what happens is told", () => {
  it("at once where nothing is to be recorded", () => {
    const { telling, heard } = stage();
    telling.say(notice("output"));
    expect(heard).toEqual(["output"]);
  });

  it("once it is kept, and what follows from it after it", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("call");
    telling.say(notice("runs"));
    const kept = telling.keepSoon();
    telling.say(notice("output"));
    await turn();
    expect(heard).toEqual([]);
    writings[0]?.();
    await kept;
    expect(heard).toEqual(["call", "runs", "output"]);
  });

  it("not before its own writing, though an earlier one is done", async () => {
    const { telling, heard, writings, happen } = stage();
    happen("one");
    void telling.keepSoon();
    happen("two");
    telling.say(notice("after two"));
    const all = telling.kept();
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
    void telling.keepSoon();
    happen("two");
    const all = telling.kept();
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
    void telling.keepSoon();
    const last = telling.last();
    writings[0]?.(new Error("full"));
    await turn();
    writings[1]?.();
    await last;
    expect(heard).toEqual(["one"]);
  });
});
