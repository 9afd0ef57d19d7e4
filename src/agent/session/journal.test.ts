import { describe, expect, it } from "vitest";
import type { NewRecord } from "../../session/log/record.ts";
import { Journal } from "./journal.ts";

/** A log whose disk answers when the test says so. */
const slowLog = () => {
  const writes: { readonly records: readonly NewRecord[]; readonly end: (error?: Error) => void }[] = [];
  const journal = new Journal({
    append: (records, submitted) =>
      new Promise((resolve, reject) => {
        writes.push({ records, end: (error) => (error === undefined ? resolve() : reject(error)) });
        submitted();
      }),
    storeBlobs: async () => undefined,
  });
  const addMessage = (text: string): void => journal.ledger.user([{ type: "text", text }]);
  const sizes = (): readonly number[] => writes.map(({ records }) => records.length);
  return { journal, writes, addMessage, sizes };
};

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("a journal", () => {
  it("writes records that arrive while the disk is busy in one write, in order", async () => {
    const { journal, writes, addMessage, sizes } = slowLog();
    addMessage("one");
    const first = journal.commit();
    addMessage("two");
    const second = journal.commit();
    addMessage("three");
    const third = journal.commit();
    await turn();
    expect(sizes()).toEqual([1]);
    writes[0]?.end();
    await first;
    await turn();
    expect(sizes()).toEqual([1, 2]);
    writes[1]?.end();
    await Promise.all([second, third]);
  });

  it("does not write records twice if commits overlap", async () => {
    const { journal, writes, addMessage, sizes } = slowLog();
    addMessage("one");
    const commits = [journal.commit(), journal.commit()];
    await journal.submitted;
    writes[0]?.end();
    await Promise.all(commits);
    await journal.commit();
    expect(sizes()).toEqual([1]);
  });

  it("tells when only the disk is left to wait for, also for a write that follows another", async () => {
    const { journal, writes, addMessage } = slowLog();
    const order: string[] = [];
    const watch = (what: string, done: Promise<void>): void => void done.then(() => order.push(what));
    addMessage("one");
    watch("one committed", journal.commit());
    watch("one submitted", journal.submitted);
    await turn();
    journal.appendMetadata({ kind: "title", title: "t" });
    watch("two committed", journal.commit());
    watch("two submitted", journal.submitted);
    await turn();
    expect(order).toEqual(["one submitted"]);
    writes[0]?.end();
    await turn();
    expect(order).toEqual(["one submitted", "one committed", "two submitted"]);
    writes[1]?.end();
    await turn();
    expect(order).toEqual(["one submitted", "one committed", "two submitted", "two committed"]);
  });

  it("writes the records of a failed write again, with the new ones", async () => {
    const { journal, writes, addMessage } = slowLog();
    addMessage("one");
    const first = journal.commit();
    addMessage("two");
    const second = journal.commit();
    writes[0]?.end(new Error("full"));
    await expect(first).rejects.toThrow("full");
    await turn();
    expect(writes[1]?.records).toHaveLength(2);
    writes[1]?.end();
    await second;
  });
});
